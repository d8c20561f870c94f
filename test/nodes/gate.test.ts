import assert from 'node:assert/strict';
import {
  GATE_TAINT_KEY,
  OWN_PREFIX,
  QUARANTINE_TAINT_KEY,
  VERIFIED_CONDITION,
} from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isReconciled, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { type NodeVersion, OTHER_BUILD, waitingPod, withVerification } from './verificationFixture.ts';

describe('the gate', () => {
  const { fixture, nodesOf, tainted, waitForTaints, setPolicy, becomes, ...verification } = withVerification();
  const { historyOf, boundSince, makePods, untilBound, untilAvoided, fill, versionNow, namesOf } = verification;
  const gateOfGroup = (pool: string): number =>
    fixture.world.cloud.state.group(pool).nodegroup.taints?.filter(({ key }) => key === GATE_TAINT_KEY).length ?? 0;
  const gateTaintOn = (node: string) => `${node} ${GATE_TAINT_KEY}:NoSchedule`;

  describe('with policy Gate, two hundred pending pods and twenty new nodes, one in four with another build', () => {
    const POOL = 'gated';
    const PODS = 200;
    const NODES = 20;
    const BAD = 5;
    let since: string;
    let history: readonly NodeVersion[];

    before(async function () {
      this.timeout(300_000);
      await fixture.world.apply(
        poolManifest(POOL, {
          nodeGroup: { scaling: { minSize: 0, maxSize: NODES + 1 } },
          verification: { policy: 'Gate' },
        }),
      );
      await becomes(POOL, 'Ready', 'True/NoNodes');
      since = await versionNow();
      await fixture.world.apply({
        apiVersion: 'v1',
        kind: 'List',
        items: Array.from({ length: PODS }, (_, i) => waitingPod(`gated-${i}`, POOL)),
      });
      for (let i = 0; i < BAD; i++) fixture.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await fixture.world.kubectl('scale', 'windowspool', POOL, `--replicas=${NODES}`);
      await fixture.world.waitForPool(
        POOL,
        'to have its good nodes verified and the others at the gate',
        (found) => found?.status?.nodes?.verified === NODES - BAD && found.status.nodes.gated === BAD,
      );
      const isBound = async () => {
        const query = '{range .items[?(@.spec.nodeName)]}{.metadata.name}{"\\n"}{end}';
        const names = await fixture.world.kubectl('get', 'pods', '-o', `jsonpath=${query}`);
        return names.split('\n').filter((name) => name.startsWith('gated-')).length === PODS;
      };
      await waitFor(isBound, { what: 'the pods to be bound', timeoutMs: 120_000 });
      history = await historyOf(POOL, since);
    });

    after(async () => {
      await fixture.world.kubectl('delete', 'pods', '--all', '--grace-period=0', '--force');
    });

    it('creates every node with the taint', () => {
      const firstVersions = new Map(history.toReversed().map((version) => [version.name, version]));
      assert.deepEqual(
        [...firstVersions.values()].map(({ isGated }) => isGated),
        Array.from({ length: NODES }, () => true),
      );
    });

    it('binds no pod to a node before it is released', async () => {
      const first = await boundSince(since);
      assert.equal(first.size, PODS);
      for (const [pod, { node, at }] of first) {
        const before = history.findLast((version) => version.name === node && version.at < at);
        assert.equal(before?.isGated, false, `${pod} on ${node}`);
      }
    });

    it('reports the result on every node, as kubectl describe shows it', async () => {
      const conditions = (await nodesOf(POOL)).flatMap(
        ({ status }) => status.conditions?.filter(({ type }) => type === VERIFIED_CONDITION) ?? [],
      );
      assert.deepEqual(conditions.map(({ status, reason }) => `${status} ${reason}`).sort(), [
        ...Array.from({ length: BAD }, () => 'False WrongBuild'),
        ...Array.from({ length: NODES - BAD }, () => 'True ChecksPassed'),
      ]);
      for (const { status, message } of conditions)
        assertNames(
          message,
          `WindowsPool ${POOL}`,
          ...(status === 'False' ? [/\(10\.0\.17763\).*\(10\.0\.20348\)/] : []),
        );
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      assert.match(await fixture.world.kubectl('describe', 'node', bad), /winpool\.dev\/Verified +False .*WrongBuild/);
    });

    it('does not change the conditions of the kubelet', async () => {
      for (const { status } of await nodesOf(POOL)) assert.ok(status.conditions?.some(({ type }) => type === 'Ready'));
    });

    it('keeps the gate taint on nodes with another build, and reports them', async () => {
      const pool = await fixture.world.pool(POOL);
      const bad = pool?.status?.failingNodes?.map(({ name }) => name) ?? [];
      assert.equal(bad.length, BAD);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), bad.map(gateTaintOn).sort());
      const message = messageOf(pool, 'NodesVerified');
      assertNames(message, '5 nodes are gated', /kubectl annotate node \S+ winpool\.dev\/replace=true$/);
    });

    it('quarantines a released node that has another build after a reboot, until it passes', async () => {
      const { failingNodes = [] } = (await fixture.world.pool(POOL))?.status ?? {};
      const good = (await namesOf(POOL)).find((name) => !failingNodes.some((failing) => failing.name === name)) ?? '';
      const rebooted = await versionNow();
      fixture.world.cloud.faults.patchKernel({ node: good, build: OTHER_BUILD });
      const quarantineTaint = `${good} ${QUARANTINE_TAINT_KEY}=WrongBuild:NoSchedule`;
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [quarantineTaint], 'after the reboot');
      await untilAvoided(POOL, good);
      await fill(POOL, 'rebooted');
      fixture.world.cloud.faults.patchKernel({ node: good, build: '10.0.20348' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'after the second reboot');
      const versions = (await historyOf(POOL, rebooted)).filter(({ name }) => name === good);
      assert.deepEqual([versions.length > 0, versions.filter(({ isGated }) => isGated)], [true, []]);
    });

    it('removes the taint when the policy changes: from the group first, then from the nodes', async () => {
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('gated-report', POOL, bad));
      await setPolicy(POOL, { policy: 'Report' });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'under Report');
      assert.equal(gateOfGroup(POOL), 0);
      await untilBound('gated-report');
    });
  });

  describe('when a pool with nodes gets policy Gate', () => {
    const POOL = 'late';
    const isSettled = async () => {
      const pool = await fixture.world.pool(POOL);
      return isReconciled(pool) && pool?.status?.nodeGroup?.status === 'ACTIVE';
    };

    before(async () => {
      await fixture.world.apply(
        poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, maxSize: 3 } }, deletionPolicy: 'Retain' }),
      );
      await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    });

    it('releases the existing nodes that EKS taints together with their group', async () => {
      const since = await versionNow();
      await setPolicy(POOL, { policy: 'Gate' });
      const areGated = async () => {
        const gated = (await historyOf(POOL, since)).filter(({ isGated }) => isGated).map(({ name }) => name);
        return new Set(gated).size === 2;
      };
      await waitFor(areGated, { what: 'EKS to taint both nodes' });
      await waitFor(isSettled, { what: 'the group to be ACTIVE again' });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'though the group has the taint');
      assert.equal(gateOfGroup(POOL), 1);
      await fill(POOL, 'released');
    });

    it('removes the taint from the group and from the nodes when the pool is deleted with Retain', async () => {
      fixture.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await fixture.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
      await fixture.world.waitForPool(POOL, 'to hold a node', (found) => found?.status?.nodes?.gated === 1);
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('late-retain', POOL, bad));
      await fixture.world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
      await untilBound('late-retain');
      assert.equal(gateOfGroup(POOL), 0);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), []);
      const types = (await nodesOf(POOL)).flatMap(({ status }) => status.conditions ?? []).map(({ type }) => type);
      assert.deepEqual([types.includes('Ready'), types.filter((type) => type.startsWith(OWN_PREFIX))], [true, []]);
      fixture.world.cloud.faults.consoleDelete({ group: POOL });
      await fixture.world.kubectl('delete', 'runtimeclass', 'windows-2022');
    });
  });

  describe('in all of these tests, the scheduler', () => {
    it('binds no pod to a node that has a taint of the operator', () =>
      verification.assertBoundWithoutTaint(/^(gated|late)-/, 222));
  });
});
