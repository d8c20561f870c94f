import assert from 'node:assert/strict';
import { QUARANTINE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { OTHER_BUILD, waitingPod, withVerification } from './verificationFixture.ts';

describe('a pool with policy Quarantine', () => {
  const {
    fixture,
    nodesOf,
    waitForTaints,
    setPolicy,
    becomes,
    makePods,
    untilBound,
    untilAvoided,
    fill,
    ...verification
  } = withVerification();
  const POOL = 'strict';
  const quarantineTaintOn = (node: string, reason = 'WrongBuild') =>
    `${node} ${QUARANTINE_TAINT_KEY}=${reason}:NoSchedule`;
  let bad: string;

  before(async () => {
    await fixture.world.apply(
      poolManifest(POOL, {
        nodeGroup: { scaling: { minSize: 2, maxSize: 4 } },
        verification: { policy: 'Quarantine' },
      }),
    );
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    [bad = ''] = (await nodesOf(POOL)).map(({ metadata }) => metadata.name).sort();
    fixture.world.cloud.faults.patchKernel({ node: bad, build: OTHER_BUILD });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [quarantineTaintOn(bad)], 'after a change of the build');
  });

  it('taints a failing node with the reason, and changes nothing else', async () => {
    const node = (await nodesOf(POOL)).find(({ metadata }) => metadata.name === bad);
    assert.deepEqual(
      node?.spec.taints?.map(({ key, value }) => `${key}=${value}`),
      ['os=windows', `${QUARANTINE_TAINT_KEY}=WrongBuild`],
    );
  });

  it('counts and reports the node', async () => {
    const pool = await fixture.world.waitForPool(
      POOL,
      'to count its quarantined node',
      (found) => found?.status?.nodes?.quarantined === 1,
    );
    const message = messageOf(pool, 'NodesVerified');
    assertNames(message, '1 node is quarantined', /kubectl annotate node \S+ winpool\.dev\/replace=true$/);
  });

  it('restores the taint when another client removes or changes it', async () => {
    for (const change of [`${QUARANTINE_TAINT_KEY}-`, `${QUARANTINE_TAINT_KEY}=fine:NoSchedule`]) {
      await fixture.world.kubectl('taint', 'node', bad, change, '--overwrite');
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [quarantineTaintOn(bad)], `after ${change}`);
    }
  });

  it('only warns about checks in warnOnly, and taints no node with policy Report', async () => {
    await makePods(waitingPod('strict-warned', POOL, bad));
    await setPolicy(POOL, { warnOnly: ['WrongBuild'] });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'with warnOnly');
    await untilBound('strict-warned');
    await setPolicy(POOL, { warnOnly: null });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [quarantineTaintOn(bad)], 'without warnOnly');
    await untilAvoided(POOL, bad);
    await fill(POOL, 'beside');
    await makePods(waitingPod('strict-report', POOL, bad));
    await setPolicy(POOL, { policy: 'Report' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'under Report');
    await becomes(POOL, 'NodesVerified', 'False/WrongBuild');
    await untilBound('strict-report');
    await setPolicy(POOL, { policy: 'Quarantine' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [quarantineTaintOn(bad)], 'under Quarantine again');
  });

  it('releases the node when it passes', async () => {
    await makePods(waitingPod('strict-passes', POOL, bad));
    fixture.world.cloud.faults.patchKernel({ node: bad, build: '10.0.20348' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'when it passes');
    await becomes(POOL, 'NodesVerified', 'True/AllVerified');
    await untilBound('strict-passes');
  });

  it('keeps pods away: the scheduler binds none to a node that has a taint of the operator', () =>
    verification.assertBoundWithoutTaint(/^strict-/, 13));
});
