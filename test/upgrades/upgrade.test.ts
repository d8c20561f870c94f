import assert from 'node:assert/strict';
import { openFailure } from '../../controllers/windowspool/testing/life.ts';
import { changesIn } from '../awsCalls.ts';
import { conditionOf, hasConditions, READY } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('an upgrade', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'upgraded';
  const OLD = '1.36-2026.02.17';
  const NEW = '1.36-2026.03.17';
  const NEWER = '1.36-2026.04.18';

  const patch = (nodeGroup: object) => fixture.world.patchPool(POOL, { nodeGroup });
  const group = () => fixture.world.cloud.state.groups.get(POOL)?.nodegroup;
  const updates = () => changesIn(fixture.world, 'UpdateNodegroupVersion');
  const settledAt = (release: string) =>
    fixture.world.waitForPool(
      POOL,
      `to have release ${release} and be settled`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.nodeGroup.update?.status !== 'InProgress' &&
        pool.status.nodes?.total === 1 &&
        hasConditions(pool, READY, 'NodesVerified=True/AllVerified') &&
        conditionOf(pool, 'UpToDate') === (release === NEWER ? 'True/MatchesSpec' : 'False/UpdateAvailable') &&
        pool?.status?.nodeGroup?.latestReleaseVersion === NEWER,
    );

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, { nodeGroup: { releaseVersion: OLD } }));
    await settledAt(OLD);
  });
  beforeEach(() => fixture.world.cloud.resetCalls());

  it('that fails is reported with the message of EKS and sent once, until the annotation requests a retry, also of a DEGRADED group', async () => {
    const errors = [
      {
        errorCode: 'PodEvictionFailure' as const,
        errorMessage: 'Reached max retries while trying to evict pod shop/cart-0',
        resourceIds: ['ip-10-0-1-9'],
      },
    ];
    fixture.world.cloud.faults.updateFailure({ group: POOL, errors, degraded: true });
    await patch({ releaseVersion: NEW });
    const failed = await fixture.world.waitForPool(
      POOL,
      'to tell that the update failed',
      (pool) => conditionOf(pool, 'NodeGroupReady') === 'False/UpdateFailed' && group()?.status === 'DEGRADED',
    );
    const { update } = failed?.status?.nodeGroup ?? {};
    assert.deepEqual(
      [update?.type, update?.status, update?.change, update?.errors],
      [
        'VersionUpdate',
        'Failed',
        `release ${NEW}`,
        ['PodEvictionFailure: Reached max retries while trying to evict pod shop/cart-0 (ip-10-0-1-9)'],
      ],
    );
    assert.equal(openFailure(failed?.status?.nodeGroup)?.target, update?.target);
    assert.equal(group()?.releaseVersion, OLD);
    await fixture.world.kubectl('annotate', 'windowspool', POOL, 'winpool.dev/retry=1');
    await settledAt(NEW);
    const sent = { version: '1.36', releaseVersion: NEW, force: false };
    assert.deepEqual(updates(), [sent, sent]);
  });

  it('replaces every node, and each is verified', async () => {
    const pool = await settledAt(NEW);
    assert.deepEqual(pool?.status?.builds, [{ kernelVersion: '10.0.20348.4893', nodes: 1 }]);
    assert.equal(openFailure(pool?.status?.nodeGroup), undefined);
  });
});
