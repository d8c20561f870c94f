/** The gate of a pool, left to a NodeReadinessRule. A stand-in plays the Node Readiness Controller. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY, VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { nodeReadinessRuleCrd, startReadinessController } from './readinessController.ts';
import { OTHER_BUILD, waitingPod, withVerification } from './verificationFixture.ts';

const POOL = 'web';
const TAINT = 'readiness.k8s.io/winpool-web';
const RULE = fileURLToPath(new URL('../../config/samples/node-readiness/rule.yaml', import.meta.url));

describe('a pool that leaves its gate to a NodeReadinessRule', () => {
  const { fixture, nodesOf, tainted, waitForTaints, becomes, makePods, untilBound, ...verification } =
    withVerification();
  let stop: (() => Promise<void>) | undefined;
  let since = '';
  let node = '';
  const taintsOfNode = async () => (await nodesOf(POOL))[0]?.spec.taints?.map(({ key }) => key);
  const verifiedOf = async () =>
    (await nodesOf(POOL))[0]?.status.conditions?.find((c) => c.type === VERIFIED_CONDITION);

  before(async () => {
    await fixture.world.apply(nodeReadinessRuleCrd);
    await fixture.world.kubectl('wait', '--for=condition=Established', `crd/${nodeReadinessRuleCrd.metadata.name}`);
    await fixture.world.kubectl('apply', '-f', RULE);
    since = await verification.versionNow();
    const verificationSpec = { policy: 'Gate', readinessTaint: TAINT };
    await fixture.world.apply(poolManifest(POOL, { verification: verificationSpec }));
  });

  after(async () => {
    await stop?.();
    await fixture.world.kubectl('delete', 'crd', nodeReadinessRuleCrd.metadata.name);
  });

  it('is not Ready while the rule keeps pods off its verified node, and says so', async () => {
    const pool = await becomes(POOL, 'Ready', 'False/AwaitingReadinessRule');
    assertNames(
      messageOf(pool, 'Ready'),
      '0 of 1',
      '1 node is gated',
      '1 verified node',
      'kubectl describe nodereadinessrules',
    );
    assert.deepEqual([pool?.status?.nodes?.verified, pool?.status?.nodes?.gated], [1, 1]);
    assert.deepEqual(await taintsOfNode(), ['os', TAINT]);
    node = (await nodesOf(POOL))[0]?.metadata.name ?? '';
    await makePods(waitingPod('early', POOL));
  });

  it('has no taint of the operator on any version of its nodes, and the rule’s taint on the first', async () => {
    const versions = (await verification.eventsSince('nodes', since)).filter(({ metadata }) => metadata.name === node);
    const keys = versions.map(({ spec }) => spec.taints?.map(({ key }) => key) ?? []);
    assert.ok(keys[0]?.includes(TAINT), String(keys[0]));
    const own = keys.flat().filter((key) => key === GATE_TAINT_KEY || key === QUARANTINE_TAINT_KEY);
    assert.deepEqual(own, []);
  });

  it('is Ready and runs pods when the rule removes the taint, without a warning about the gate', async () => {
    ({ stop } = await startReadinessController(fixture.world));
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    await untilBound('early');
    assert.deepEqual(await tainted(POOL, TAINT), []);
    assert.match((await verifiedOf())?.message ?? '', /passes every check\.$/);
  });

  it('leaves the taint on a node that fails later to the rule, which adds it again, and quarantines the node', async () => {
    fixture.world.cloud.faults.patchKernel({ node, build: OTHER_BUILD });
    await becomes(POOL, 'NodesVerified', 'False/WrongBuild');
    await waitForTaints(POOL, TAINT, [`${node} ${TAINT}:NoSchedule`], 'after a change of the build');
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [`${node} ${QUARANTINE_TAINT_KEY}=WrongBuild:NoSchedule`], 'then');
    fixture.world.cloud.faults.patchKernel({ node, build: '10.0.20348' });
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual([await tainted(POOL, TAINT), await tainted(POOL, QUARANTINE_TAINT_KEY)], [[], []]);
  });

  it('does not fight the taints of other rules, and its node counts as unavailable', async () => {
    const other = 'readiness.k8s.io/network';
    await fixture.world.kubectl('taint', 'node', node, `${other}:NoSchedule`);
    await becomes(POOL, 'Ready', 'False/AwaitingReadinessRule');
    assert.deepEqual(await tainted(POOL, other), [`${node} ${other}:NoSchedule`]);
    await fixture.world.kubectl('taint', 'node', node, `${other}:NoSchedule-`);
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
  });

  it('rejects the taint without the gate, and a key that no rule can have', async () => {
    const refused = (verification: object) =>
      fixture.world.apply(poolManifest('refused', { verification }), '--dry-run=server').then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    assert.match(
      await refused({ policy: 'Quarantine', readinessTaint: TAINT }),
      /Set policy to Gate, or remove readinessTaint/,
    );
    assert.match(await refused({ policy: 'Gate', readinessTaint: 'example.com/gate' }), /readinessTaint.*should match/);
  });
});
