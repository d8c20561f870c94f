/** A release whose nodes fail verification in one pool is not rolled out automatically to the others. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD = '1.36-2026.03.17';
const NEW = '1.36-2026.04.18';
const WRONG_BUILD = '10.0.17763';

describe('a release whose nodes fail in one pool', () => {
  const stage = withOperator('--resync-interval=1s');
  const patch = (name: string, nodeGroup: object) => stage.world.patchPool(name, { nodeGroup });
  const settledAt = (name: string, release: string) =>
    stage.world.waitForPool(
      name,
      `to have release ${release}`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.nodeGroup.status === 'ACTIVE' &&
        pool.status.disruption === undefined &&
        conditionOf(pool, 'NodesVerified') === 'True/AllVerified',
      60_000,
    );
  const updatesOf = (name: string) =>
    stage.world.cloud
      .calls()
      .filter(({ operation }) => operation === 'UpdateNodegroupVersion')
      .filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name).length;
  let bad = '';

  before(async () => {
    for (const name of ['first', 'second', 'third']) {
      await stage.world.apply(poolManifest(name, { nodeGroup: { releaseVersion: OLD } }));
    }
    for (const name of ['first', 'second', 'third']) await settledAt(name, OLD);
    // More than EKS launches for the update of one node, and it is open which of them stays.
    for (let i = 0; i < 10; i++) stage.world.cloud.faults.nextNode({ group: 'first', build: WRONG_BUILD });
    await patch('first', { releaseVersion: NEW });
    const failed = await stage.world.waitForPool(
      'first',
      'to have the release and a node that fails',
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === NEW &&
        pool.status.nodeGroup.status === 'ACTIVE' &&
        pool.status.nodes?.total === 1 &&
        pool.status.failingNodes?.[0]?.reason === 'WrongBuild',
      60_000,
    );
    stage.world.cloud.state.plans.nodes.splice(0);
    bad = failed?.status?.failingNodes?.[0]?.name ?? '';
    stage.world.cloud.resetCalls();
  });

  it('does not reach another by itself, which names the pool and the node', async () => {
    await patch('second', { releaseVersion: null, update: { policy: 'Automatic' } });
    const pool = await stage.world.waitForPool(
      'second',
      'to tell of the release',
      (found) => conditionOf(found, 'UpToDate') === 'False/ReleaseNotVerified',
    );
    const words = `With release ${NEW} node ${bad} of pool first fails verification: WrongBuild: `;
    assert.ok(messageOf(pool, 'UpToDate').includes(words), messageOf(pool, 'UpToDate'));
    assert.deepEqual([conditionOf(pool, 'Ready'), conditionOf(pool, 'Reconciling')], ['True/Verified', 'absent']);
    const looks = () =>
      stage.world.cloud.calls().filter(({ operation, input }) => {
        return operation === 'DescribeNodegroup' && (input as { nodegroupName?: string }).nodegroupName === 'second';
      }).length;
    const before = looks();
    await waitFor(() => looks() >= before + 3, { what: 'three more looks', timeoutMs: 15_000 });
    assert.equal(updatesOf('second'), 0);
  });

  it('reaches another that pins it, with a warning', async () => {
    await patch('third', { releaseVersion: NEW });
    await settledAt('third', NEW);
    const notes = await stage.world.kubectl(
      'get',
      'events.events.k8s.io',
      '-A',
      '--field-selector=reason=ReleaseNotVerified,type=Warning',
      '-o',
      'jsonpath={range .items[*]}{.regarding.name}: {.note}{"\\n"}{end}',
    );
    assert.match(
      notes,
      new RegExp(`^third: The update begins because the spec asks for it\\. .*node ${bad} of pool first`, 'm'),
    );
  });

  it('reaches the others when the node is gone and its successor is verified', async () => {
    assert.equal(updatesOf('second'), 0);
    stage.world.cloud.faults.terminateInstance({ node: bad });
    await settledAt('first', NEW);
    await settledAt('second', NEW);
    assert.equal(updatesOf('second'), 1);
  });
});
