import assert from 'node:assert/strict';
import {
  GATE_TAINT_KEY,
  NODE_GROUP_LABEL,
  PLAIN_GATE_TAINT_KEY,
  QUARANTINE_TAINT_KEY,
  VERIFIED_CONDITION,
} from '../../controllers/windowspool/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isReconciled } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { type NodeVersion, OTHER_BUILD, waitingPod, withTrust } from './verificationFixture.ts';

describe('the gate', () => {
  const { stage, nodesOf, tainted, waitForTaints, setPolicy, becomes, ...trust } = withTrust();
  const { historyOf, eventsSince, boundSince, makePods, untilBound, untilAvoided, fill, versionNow, namesOf } = trust;
  const gateOfGroup = (pool: string): number =>
    stage.world.cloud.state.group(pool).nodegroup.taints?.filter(({ key }) => key === GATE_TAINT_KEY).length ?? 0;
  const atGate = (node: string) => `${node} ${GATE_TAINT_KEY}:NoSchedule`;

  describe('under Gate, with two hundred pods that wait for twenty nodes, of which one in four has another build', () => {
    const POOL = 'gated';
    const PODS = 200;
    const NODES = 20;
    const BAD = 5;
    let since: string;
    let history: readonly NodeVersion[];

    before(async function () {
      this.timeout(300_000);
      await stage.world.apply(
        poolManifest(POOL, { scaling: { min: 0, max: NODES + 1 }, verification: { policy: 'Gate' } }),
      );
      await becomes(POOL, 'Ready', 'True/NoNodes');
      since = await versionNow();
      await stage.world.apply({
        apiVersion: 'v1',
        kind: 'List',
        items: Array.from({ length: PODS }, (_, i) => waitingPod(`gated-${i}`, POOL)),
      });
      for (let i = 0; i < BAD; i++) stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await stage.world.kubectl('scale', 'windowspool', POOL, `--replicas=${NODES}`);
      await stage.world.waitForPool(
        POOL,
        'to have its good nodes verified and the others at the gate',
        (found) => found?.status?.nodes?.verified === NODES - BAD && found.status.nodes.gated === BAD,
      );
      const isBound = async () => {
        const query = '{range .items[?(@.spec.nodeName)]}{.metadata.name}{"\\n"}{end}';
        const names = await stage.world.kubectl('get', 'pods', '-o', `jsonpath=${query}`);
        return names.split('\n').filter((name) => name.startsWith('gated-')).length === PODS;
      };
      await waitFor(isBound, { what: 'the pods to be bound', timeoutMs: 120_000 });
      history = await historyOf(POOL, since);
    });

    after(async () => {
      await stage.world.kubectl('delete', 'pods', '--all', '--grace-period=0', '--force');
    });

    it('bears every node with the taint', () => {
      const born = new Map(history.toReversed().map((version) => [version.name, version]));
      assert.deepEqual(
        [...born.values()].map(({ isGated }) => isGated),
        Array.from({ length: NODES }, () => true),
      );
    });

    it('binds no pod to a node before the version in which it is released', async () => {
      const first = await boundSince(since);
      assert.equal(first.size, PODS);
      for (const [pod, { node, at }] of first) {
        const before = history.findLast((version) => version.name === node && version.at < at);
        assert.equal(before?.isGated, false, `${pod} on ${node}`);
      }
    });

    it('tells every node what was found, as kubectl describe shows it', async () => {
      const texts = (await nodesOf(POOL)).map(({ status }) => {
        const found = status.conditions?.find(({ type }) => type === VERIFIED_CONDITION);
        return `${found?.status} ${found?.reason} ${found?.message}`;
      });
      const failing =
        'False WrongBuild WindowsPool gated: runs build 10.0.17763 (Windows Server 2019) and the pool needs 10.0.20348 (Windows2022).';
      const passing = 'True ChecksPassed WindowsPool gated: passes every check.';
      assert.deepEqual(texts.sort(), [
        ...Array.from({ length: BAD }, () => failing),
        ...Array.from({ length: NODES - BAD }, () => passing),
      ]);
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      assert.match(await stage.world.kubectl('describe', 'node', bad), /winpool\.dev\/Verified +False .*WrongBuild/);
    });

    it('leaves the conditions of the kubelet as they are', async () => {
      for (const { status } of await nodesOf(POOL)) assert.ok(status.conditions?.some(({ type }) => type === 'Ready'));
    });

    it('keeps the nodes of another build at the gate, and says so', async () => {
      const pool = await stage.world.pool(POOL);
      const bad = pool?.status?.failingNodes?.map(({ name }) => name) ?? [];
      assert.equal(bad.length, BAD);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), bad.map(atGate).sort());
      const { message } = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified') ?? {};
      assert.match(message ?? '', / 5 nodes are gated: no new pod lands there\.$/);
    });

    it('quarantines a released node that comes back from a reboot with another build, and only until it passes', async () => {
      const { failingNodes = [] } = (await stage.world.pool(POOL))?.status ?? {};
      const good = (await namesOf(POOL)).find((name) => !failingNodes.some((failing) => failing.name === name)) ?? '';
      const rebooted = await versionNow();
      stage.world.cloud.faults.patchKernel({ node: good, build: OTHER_BUILD });
      const held = `${good} ${QUARANTINE_TAINT_KEY}=WrongBuild:NoSchedule`;
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held], 'after the reboot');
      await untilAvoided(POOL, good);
      await fill(POOL, 'rebooted');
      stage.world.cloud.faults.patchKernel({ node: good, build: '10.0.20348' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'after the second reboot');
      const versions = (await historyOf(POOL, rebooted)).filter(({ name }) => name === good);
      assert.deepEqual([versions.length > 0, versions.filter(({ isGated }) => isGated)], [true, []]);
    });

    it('leaves the gate: the group first, then the nodes', async () => {
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('gated-report', POOL, bad));
      await setPolicy(POOL, { policy: 'Report' });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'under Report');
      assert.equal(gateOfGroup(POOL), 0);
      await untilBound('gated-report');
    });
  });

  describe('where EKS refuses the key of the gate', () => {
    const POOL = 'plain';

    it('uses the plain one instead, says so once, and releases nodes from that', async () => {
      const restore = setSwitch(stage.world, 'reservedTaints', 'reject');
      try {
        await stage.world.apply(poolManifest(POOL, { scaling: { min: 0, max: 2 }, verification: { policy: 'Gate' } }));
        await becomes(POOL, 'Ready', 'True/NoNodes');
        const since = await versionNow();
        stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
        await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=2');
        const pool = await stage.world.waitForPool(
          POOL,
          'to have one node verified and one at the gate',
          (found) => found?.status?.nodes?.verified === 1 && found.status.nodes.gated === 1,
        );
        assert.equal(pool?.status?.nodeGroup?.gateTaint, PLAIN_GATE_TAINT_KEY);
        assert.equal((await tainted(POOL, PLAIN_GATE_TAINT_KEY)).length, 1);
        const born = (await eventsSince('nodes', since)).filter(
          ({ metadata }) => metadata.labels?.[NODE_GROUP_LABEL] === POOL,
        );
        assert.ok(born[0]?.spec.taints?.some(({ key }) => key === PLAIN_GATE_TAINT_KEY));
        const reported = async () =>
          (await stage.world.kubectl('get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}'))
            .split(' ')
            .filter((reason) => reason === 'GateTaintReplaced').length;
        await waitFor(async () => (await reported()) === 1, {
          what: 'an event that tells of the other key',
          timeoutMs: 60_000,
        });
        await setPolicy(POOL, { policy: 'Report' });
        await waitForTaints(POOL, PLAIN_GATE_TAINT_KEY, [], 'under Report');
      } finally {
        restore();
      }
    });
  });

  describe('where EKS sets labels and taints only after a node has registered', () => {
    const POOL = 'tardy';

    it('verifies the node once they are there, and warns that it joined without the taint', async () => {
      const restore = setSwitch(stage.world, 'groupSettingsOnNodes', 'later');
      try {
        await stage.world.apply(poolManifest(POOL, { scaling: { min: 1, max: 1 }, verification: { policy: 'Gate' } }));
        await becomes(POOL, 'Ready', 'True/Verified');
        await waitForTaints(POOL, GATE_TAINT_KEY, [], 'once the node is verified');
        const [node] = await nodesOf(POOL);
        const verified = node?.status.conditions?.find(({ type }) => type === VERIFIED_CONDITION);
        assert.match(verified?.message ?? '', /passes, with a warning: .*joined without the taint/);
      } finally {
        restore();
      }
    });
  });

  describe('when a pool with nodes becomes gated', () => {
    const POOL = 'late';
    const isSettled = async () => {
      const pool = await stage.world.pool(POOL);
      return isReconciled(pool) && pool?.status?.nodeGroup?.status === 'ACTIVE';
    };

    before(async () => {
      await stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 3 }, deletionPolicy: 'Retain' }));
      await becomes(POOL, 'Ready', 'True/Verified');
    });

    it('releases the living nodes that EKS taints with their group', async () => {
      const since = await versionNow();
      await setPolicy(POOL, { policy: 'Gate' });
      const wereGated = async () => {
        const gated = (await historyOf(POOL, since)).filter(({ isGated }) => isGated).map(({ name }) => name);
        return new Set(gated).size === 2;
      };
      await waitFor(wereGated, { what: 'EKS to taint both nodes', timeoutMs: 30_000 });
      await waitFor(isSettled, { what: 'the group to be ACTIVE again', timeoutMs: 60_000 });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'though the group has the taint');
      assert.equal(gateOfGroup(POOL), 1);
      await fill(POOL, 'released');
    });

    it('takes the taint from the group and from the nodes when it goes with Retain', async () => {
      stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
      await stage.world.waitForPool(POOL, 'to hold a node', (found) => found?.status?.nodes?.gated === 1);
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('late-retain', POOL, bad));
      await stage.world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
      await untilBound('late-retain');
      assert.equal(gateOfGroup(POOL), 0);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), []);
      const reported = (await nodesOf(POOL)).flatMap(({ status }) => status.conditions ?? []).map(({ type }) => type);
      assert.deepEqual([reported.includes('Ready'), reported.includes(VERIFIED_CONDITION)], [true, false]);
      stage.world.cloud.faults.consoleDelete({ group: POOL });
      await stage.world.kubectl('delete', 'runtimeclass', 'windows-2022');
    });
  });

  describe('in all of this, the scheduler', () => {
    it('binds no pod to a node that has a taint of the operator', () =>
      trust.assertBoundWithoutTaint(/^(gated|late)-/, 222));
  });
});
