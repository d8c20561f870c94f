import assert from 'node:assert/strict';
import { ErrorCode, NodegroupIssueCode } from '@aws-sdk/client-eks';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/world/world.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const POOL = 'tables';

/** Errors of updates of other things: add-ons. */
const ofAddons: readonly string[] = [
  'AdmissionRequestDenied',
  'InsufficientNumberOfReplicas',
  'K8sResourceNotFound',
  'UnsupportedAddonModification',
];

describe('what EKS can say of a node group', () => {
  const stage = withOperator('--resync-interval=1s', '--denied-retry-interval=500ms');
  type Pool = NonNullable<Awaited<ReturnType<typeof stage.world.pool>>>;
  const until = async (what: string, isSo: (pool: Pool) => boolean): Promise<Pool> => {
    const pool = await stage.world.waitForPool(POOL, what, (found) => found !== undefined && isSo(found));
    assert.ok(pool);
    return pool;
  };
  const isSettled = (pool: Pool) =>
    conditionOf(pool, 'Ready') === 'True/Verified' &&
    conditionOf(pool, 'NodeGroupReady') === 'True/Active' &&
    conditionOf(pool, 'UpToDate') === 'True/AsSpecified';
  const label = (team: string) => stage.world.patchPool(POOL, { labels: { team } });

  before(async () => {
    await stage.world.apply(poolManifest(POOL));
    await until('to be settled', isSettled);
    // A look at the nodes' access would take away an AccessDenied that is not true.
    const isLookedAt = () => stage.world.cloud.state.group(POOL).reviewPending !== true;
    await waitFor(isLookedAt, { what: "EKS to have looked at the group's health", timeoutMs: 30_000 });
  });

  for (const code of Object.values(NodegroupIssueCode)) {
    it(`is told of the health issue ${code}, in EKS' words and with a next move, until it is over`, async () => {
      const message = `EKS says ${code} of it`;
      stage.world.cloud.faults.healthIssue({ group: POOL, issues: [{ code, message, resourceIds: ['r-1'] }] });
      const pool = await until(`to tell ${code}`, (found) => conditionOf(found, 'NodeGroupReady') === 'False/Degraded');
      assert.match(messageOf(pool, 'NodeGroupReady'), new RegExp(`${code}: ${message} \\(r-1\\)\\. [A-Z].*\\.$`));
      assert.deepEqual(
        pool.status?.nodeGroup?.healthIssues?.map((issue) => issue.code),
        [code],
      );
      assert.equal(conditionOf(pool, 'Ready').startsWith('True/'), true, 'its node is verified and serves');
      stage.world.cloud.faults.healthIssue({ group: POOL, issues: [] });
      await until('to be settled', isSettled);
    });
  }

  for (const errorCode of Object.values(ErrorCode).filter((code) => !ofAddons.includes(code))) {
    it(`is told of an update that failed with ${errorCode}, which is not tried again until the spec changes`, async () => {
      const errorMessage = `EKS says ${errorCode} of it`;
      stage.world.cloud.faults.updateFailure({
        group: POOL,
        errors: [{ errorCode, errorMessage, resourceIds: ['r-1'] }],
      });
      await label(errorCode.toLowerCase());
      const pool = await until(`to tell ${errorCode}`, ({ status }) => status?.nodeGroup?.failedTarget !== undefined);
      assert.match(messageOf(pool, 'UpToDate'), new RegExp(`${errorCode}: ${errorMessage} \\(r-1\\)`));
      assert.equal(pool.status?.nodeGroup?.failedTarget?.reason, 'UpdateFailed');
      await label('web');
      await until('to be settled', isSettled);
      const sent = stage.world.cloud.calls().filter(({ operation, input }) => {
        const { labels } = input as { labels?: { addOrUpdateLabels?: { team?: string } } };
        return operation === 'UpdateNodegroupConfig' && labels?.addOrUpdateLabels?.team === errorCode.toLowerCase();
      });
      assert.equal(sent.length, 1);
    });
  }
});
