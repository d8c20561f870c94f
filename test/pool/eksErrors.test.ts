import assert from 'node:assert/strict';
import { ErrorCode, NodegroupIssueCode } from '@aws-sdk/client-eks';
import { openFailure } from '../../controllers/windowspool/testing/life.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { shareAmong } from '../crash/killAtEach.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** Pools for the errors in parallel, because each pool mostly waits. */
const POOLS = ['tables-0', 'tables-1', 'tables-2', 'tables-3'] as const;

/** Errors of updates of add-ons. */
const ofAddons: readonly string[] = [
  'AdmissionRequestDenied',
  'InsufficientNumberOfReplicas',
  'K8sResourceNotFound',
  'UnsupportedAddonModification',
];

describe('the errors that EKS can report for a node group', () => {
  const fixture = withOperator('--resync-interval=1s', '--denied-retry-interval=500ms');
  type Pool = NonNullable<Awaited<ReturnType<typeof fixture.world.pool>>>;
  const until = async (name: string, what: string, predicate: (pool: Pool) => boolean): Promise<Pool> => {
    const pool = await fixture.world.waitForPool(name, what, (found) => found !== undefined && predicate(found));
    assert.ok(pool);
    return pool;
  };
  const isSettled = (pool: Pool) =>
    conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified' &&
    conditionOf(pool, 'NodeGroupReady') === 'True/Active' &&
    conditionOf(pool, 'UpToDate') === 'True/MatchesSpec';
  const label = (name: string, team: string) => fixture.world.patchPool(name, { labels: { team } });

  async function hasHealthIssue(group: string, code: NodegroupIssueCode): Promise<void> {
    const message = `EKS says ${code} of it`;
    fixture.world.cloud.faults.healthIssue({ group, issues: [{ code, message, resourceIds: ['r-1'] }] });
    const pool = await until(
      group,
      `to report ${code}`,
      (found) => conditionOf(found, 'NodeGroupReady') === 'False/Degraded',
    );
    assert.match(messageOf(pool, 'NodeGroupReady'), new RegExp(`${code}: ${message} \\(r-1\\)\\. [A-Z].*\\.$`));
    assert.deepEqual(
      pool.status?.nodeGroup?.healthIssues?.map((issue) => issue.code),
      [code],
    );
    assert.equal(conditionOf(pool, 'Ready').startsWith('True/'), true, 'its node is verified and serves');
    fixture.world.cloud.faults.healthIssue({ group, issues: [] });
    await until(group, 'to be settled', isSettled);
  }

  async function failsToUpdate(group: string, errorCode: ErrorCode): Promise<void> {
    const errorMessage = `EKS says ${errorCode} of it`;
    fixture.world.cloud.faults.updateFailure({ group, errors: [{ errorCode, errorMessage, resourceIds: ['r-1'] }] });
    await label(group, errorCode.toLowerCase());
    const pool = await until(
      group,
      `to report ${errorCode}`,
      ({ status }) => openFailure(status?.nodeGroup) !== undefined,
    );
    assert.match(messageOf(pool, 'UpToDate'), new RegExp(`${errorCode}: ${errorMessage} \\(r-1\\)`));
    assert.equal(openFailure(pool.status?.nodeGroup)?.reason, 'UpdateFailed');
    await label(group, 'web');
    await until(group, 'to be settled', isSettled);
    const sent = fixture.world.cloud.calls().filter(({ operation, input }) => {
      const { labels } = input as { labels?: { addOrUpdateLabels?: { team?: string } } };
      return operation === 'UpdateNodegroupConfig' && labels?.addOrUpdateLabels?.team === errorCode.toLowerCase();
    });
    assert.equal(sent.length, 1);
  }

  const issues = Object.values(NodegroupIssueCode);
  const failures = Object.values(ErrorCode).filter((code) => !ofAddons.includes(code));
  const results = new Map<string, Promise<void>>();

  before(async () => {
    for (const name of POOLS) await fixture.world.apply(poolManifest(name));
    for (const name of POOLS) await until(name, 'to be settled', isSettled);
    // EKS' check of the nodes' access would clear the simulated AccessDenied.
    const areReviewed = () => POOLS.every((name) => fixture.world.cloud.state.group(name).reviewPending !== true);
    await waitFor(areReviewed, { what: "EKS to have checked the groups' health", timeoutMs: 30_000 });
    const scenes = [
      ...issues.map((code) => ({ name: `issue ${code}`, play: (group: string) => hasHealthIssue(group, code) })),
      ...failures.map((code) => ({ name: `failure ${code}`, play: (group: string) => failsToUpdate(group, code) })),
    ].map((scene) => ({ ...scene, end: Promise.withResolvers<void>() }));
    for (const { name, end } of scenes) {
      // Its test gets the error; nothing else awaits it yet.
      end.promise.catch(() => undefined);
      results.set(name, end.promise);
    }
    void shareAmong(POOLS, scenes, (group, { play, end }) => play(group).then(end.resolve, end.reject));
  });

  for (const code of issues)
    it(`include the health issue ${code}, reported with EKS' message and a remedy until it is cleared`, () =>
      results.get(`issue ${code}`));

  for (const code of failures)
    it(`include an update that failed with ${code}, which is not retried until the spec changes`, () =>
      results.get(`failure ${code}`));
});
