import assert from 'node:assert/strict';
import { QUARANTINE_TAINT_KEY } from '../../controllers/windowspool/labels.ts';
import { poolManifest } from '../pools.ts';
import { OTHER_BUILD, waitingPod, withTrust } from './verificationFixture.ts';

describe('under Quarantine', () => {
  const { stage, nodesOf, waitForTaints, setPolicy, becomes, makePods, untilBound, untilAvoided, fill, ...trust } =
    withTrust();
  const POOL = 'strict';
  const held = (node: string, reason = 'WrongBuild') => `${node} ${QUARANTINE_TAINT_KEY}=${reason}:NoSchedule`;
  let bad: string;

  before(async () => {
    await stage.world.apply(
      poolManifest(POOL, { scaling: { min: 2, max: 4 }, verification: { policy: 'Quarantine' } }),
    );
    await becomes(POOL, 'Ready', 'True/Verified');
    [bad = ''] = (await nodesOf(POOL)).map(({ metadata }) => metadata.name).sort();
    stage.world.cloud.faults.patchKernel({ node: bad, build: OTHER_BUILD });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'after a change of the build');
  });

  it('taints a node that fails, with the reason, and nothing else of it', async () => {
    const node = (await nodesOf(POOL)).find(({ metadata }) => metadata.name === bad);
    assert.deepEqual(
      node?.spec.taints?.map(({ key, value }) => `${key}=${value}`),
      ['os=windows', `${QUARANTINE_TAINT_KEY}=WrongBuild`],
    );
  });

  it('counts the node, and says so', async () => {
    const pool = await stage.world.waitForPool(
      POOL,
      'to count its quarantined node',
      (found) => found?.status?.nodes?.quarantined === 1,
    );
    const { message } = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified') ?? {};
    assert.match(message ?? '', / 1 node is quarantined: no new pod lands there\.$/);
  });

  it('puts the taint back that somebody removes or changes', async () => {
    for (const change of [`${QUARANTINE_TAINT_KEY}-`, `${QUARANTINE_TAINT_KEY}=fine:NoSchedule`]) {
      await stage.world.kubectl('taint', 'node', bad, change, '--overwrite');
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], `after ${change}`);
    }
  });

  it('only warns where it is told to, and taints nobody under Report', async () => {
    await makePods(waitingPod('strict-warned', POOL, bad));
    await setPolicy(POOL, { warnOnly: ['WrongBuild'] });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'with warnOnly');
    await untilBound('strict-warned');
    await setPolicy(POOL, { warnOnly: null });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'without warnOnly');
    await untilAvoided(POOL, bad);
    await fill(POOL, 'beside');
    await makePods(waitingPod('strict-report', POOL, bad));
    await setPolicy(POOL, { policy: 'Report' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'under Report');
    await becomes(POOL, 'NodesVerified', 'False/WrongBuild');
    await untilBound('strict-report');
    await setPolicy(POOL, { policy: 'Quarantine' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'under Quarantine again');
  });

  it('releases the node when it passes', async () => {
    await makePods(waitingPod('strict-passes', POOL, bad));
    stage.world.cloud.faults.patchKernel({ node: bad, build: '10.0.20348' });
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'when it passes');
    await becomes(POOL, 'NodesVerified', 'True/AllVerified');
    await untilBound('strict-passes');
  });

  it('is seen by the scheduler: it binds no pod to a node that has a taint of the operator', () =>
    trust.assertBoundWithoutTaint(/^strict-/, 13));
});
