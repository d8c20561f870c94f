import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('an upgrade', () => {
  const stage = withOperator('--resync-interval=1s');
  const POOL = 'upgraded';
  const OLD = '1.36-2026.02.17';
  const NEW = '1.36-2026.03.17';
  const NEWER = '1.36-2026.04.18';

  const patch = (nodeGroup: object) => stage.world.patchPool(POOL, { nodeGroup });
  const group = () => stage.world.cloud.state.groups.get(POOL)?.nodegroup;
  const updates = () =>
    stage.world.cloud
      .calls()
      .filter(({ operation }) => operation === 'UpdateNodegroupVersion')
      .map(({ input }) => {
        const { clusterName, nodegroupName, clientRequestToken, ...change } = input as Record<string, unknown>;
        return change;
      });
  const settledAt = (release: string) =>
    stage.world.waitForPool(
      POOL,
      `to have release ${release} and be settled`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.nodeGroup.update?.status !== 'InProgress' &&
        pool.status.nodes?.total === 1 &&
        conditionOf(pool, 'Ready') === 'True/Verified' &&
        conditionOf(pool, 'NodesVerified') === 'True/AllVerified' &&
        conditionOf(pool, 'UpToDate') === (release === NEWER ? 'True/AsSpecified' : 'False/UpdateAvailable') &&
        pool?.status?.nodeGroup?.latestReleaseVersion === NEWER,
    );

  before(async () => {
    await stage.world.apply(poolManifest(POOL, { nodeGroup: { releaseVersion: OLD } }));
    await settledAt(OLD);
  });
  beforeEach(() => stage.world.cloud.resetCalls());

  it('that fails is told in EKS’ words and sent once, until the annotation asks for another try, which a DEGRADED group gets, too', async () => {
    const errors = [
      {
        errorCode: 'PodEvictionFailure' as const,
        errorMessage: 'Reached max retries while trying to evict pod shop/cart-0',
        resourceIds: ['ip-10-0-1-9'],
      },
    ];
    stage.world.cloud.faults.updateFailure({ group: POOL, errors, degraded: true });
    await patch({ releaseVersion: NEW });
    const failed = await stage.world.waitForPool(
      POOL,
      'to tell that the update failed',
      (pool) => conditionOf(pool, 'NodeGroupReady') === 'False/UpdateFailed' && group()?.status === 'DEGRADED',
    );
    const { update, failedTarget } = failed?.status?.nodeGroup ?? {};
    assert.deepEqual(
      [update?.type, update?.status, update?.change, update?.errors],
      [
        'VersionUpdate',
        'Failed',
        `release ${NEW}`,
        ['PodEvictionFailure: Reached max retries while trying to evict pod shop/cart-0 (ip-10-0-1-9)'],
      ],
    );
    assert.equal(failedTarget?.target, update?.target);
    assert.equal(group()?.releaseVersion, OLD);
    await stage.world.kubectl('annotate', 'windowspool', POOL, 'winpool.dev/retry=1');
    await settledAt(NEW);
    const sent = { version: '1.36', releaseVersion: NEW, force: false };
    assert.deepEqual(updates(), [sent, sent]);
  });

  it('is recommended by its date: the AMI becomes private, and no node starts from it then', async () => {
    const pool = await settledAt(NEW);
    const { message = '' } = pool?.status?.conditions?.find(({ type }) => type === 'UpToDate') ?? {};
    // Its third month was over before this test was written.
    assert.match(message, /AWS ma(de|kes) this AMI private about 2026-07-17: no node starts from it (any more|then)\./);
    assert.equal(pool?.status?.nodeGroup?.releaseDate, '2026-03-17');
  });

  it('has replaced every node, and each is verified', async () => {
    const pool = await settledAt(NEW);
    assert.deepEqual(pool?.status?.builds, [{ kernelVersion: '10.0.20348.4893', nodes: 1 }]);
    assert.equal(pool?.status?.nodeGroup?.failedTarget, undefined);
  });

  it('has its limit sent before it, and alone, and the rest of the spec when it is done', async () => {
    const spec = { disruption: { maxUnavailable: '50%' }, labels: { team: 'a' }, nodeGroup: { releaseVersion: NEWER } };
    await stage.world.patchPool(POOL, spec);
    await stage.world.waitForPool(POOL, 'to have its label', () => group()?.labels?.team === 'a');
    await settledAt(NEWER);
    const sent = stage.world.cloud.calls().filter(({ operation }) => operation.startsWith('UpdateNodegroup'));
    assert.deepEqual(
      sent.map(({ operation, result }) => `${operation}: ${result}`),
      // EKS refuses a second change while it works on one.
      ['UpdateNodegroupConfig: ok', 'UpdateNodegroupVersion: ok', 'UpdateNodegroupConfig: ok'],
    );
    assert.deepEqual(group()?.updateConfig, { maxUnavailablePercentage: 50 });
  });

  it('that EKS refuses is not asked for again', async () => {
    const message = 'The node group can not be updated to this version';
    stage.world.cloud.faults.calls.error({
      operation: 'UpdateNodegroupVersion',
      name: 'InvalidParameterException',
      message,
    });
    await patch({ releaseVersion: NEW });
    await stage.world.waitForPool(
      POOL,
      'to report that the update was refused',
      (pool) => conditionOf(pool, 'NodeGroupReady') === 'False/UpdateRefused',
    );
    await patch({ releaseVersion: NEWER });
    await settledAt(NEWER);
    assert.equal(updates().length, 1);
  });

  it('to a release that EKS does not offer is asked for again at each resync, because it may come', async () => {
    await patch({ releaseVersion: '1.36-2020.01.01' });
    await stage.world.waitForPool(
      POOL,
      'to report that EKS does not offer the release',
      (pool) => conditionOf(pool, 'NodeGroupReady') === 'False/ReleaseNotOffered',
    );
    await waitFor(() => updates().length >= 3, { what: 'the release to be asked for again', timeoutMs: 30_000 });
    await patch({ releaseVersion: NEWER });
    await settledAt(NEWER);
  });
});
