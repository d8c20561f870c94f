/** A release whose nodes fail verification in one pool is not rolled out automatically to the others. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD = '1.36-2026.03.17';
const NEW = '1.36-2026.04.18';
const WRONG_BUILD = '10.0.17763';

describe('a release whose nodes fail in one pool', () => {
  const fixture = withOperator('--resync-interval=1s');
  const patch = (name: string, nodeGroup: object) => fixture.world.patchPool(name, { nodeGroup });
  const settledAt = (name: string, release: string) =>
    fixture.world.waitForPool(
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
    fixture.world.cloud
      .calls()
      .filter(({ operation }) => operation === 'UpdateNodegroupVersion')
      .filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name).length;
  let bad = '';

  before(async () => {
    for (const name of ['first', 'second', 'third']) {
      await fixture.world.apply(poolManifest(name, { nodeGroup: { releaseVersion: OLD } }));
    }
    for (const name of ['first', 'second', 'third']) await settledAt(name, OLD);
    // More than EKS launches for the update of one node, because any of them may remain.
    for (let i = 0; i < 10; i++) fixture.world.cloud.faults.nextNode({ group: 'first', build: WRONG_BUILD });
    await patch('first', { releaseVersion: NEW });
    const failed = await fixture.world.waitForPool(
      'first',
      'to have the release and a node that fails',
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === NEW &&
        pool.status.nodeGroup.status === 'ACTIVE' &&
        pool.status.nodes?.total === 1 &&
        pool.status.failingNodes?.[0]?.reason === 'WrongBuild',
      60_000,
    );
    fixture.world.cloud.state.plans.nodes.splice(0);
    bad = failed?.status?.failingNodes?.[0]?.name ?? '';
    fixture.world.cloud.resetCalls();
  });

  it('is not rolled out automatically to another pool, which names the pool and the node', async () => {
    await patch('second', { releaseVersion: null, update: { policy: 'Automatic' } });
    const pool = await fixture.world.waitForPool(
      'second',
      'to report the release',
      (found) => conditionOf(found, 'UpToDate') === 'False/ReleaseNotVerified',
    );
    assertNames(messageOf(pool, 'UpToDate'), `release ${NEW}`, `node ${bad} of WindowsPool first`, 'WrongBuild');
    assert.deepEqual(
      [conditionOf(pool, 'Ready'), conditionOf(pool, 'Reconciling')],
      ['True/EnoughNodesVerified', 'absent'],
    );
    const polls = () =>
      fixture.world.cloud.calls().filter(({ operation, input }) => {
        return operation === 'DescribeNodegroup' && (input as { nodegroupName?: string }).nodegroupName === 'second';
      }).length;
    const before = polls();
    await waitFor(() => polls() >= before + 3, { what: 'three more polls', timeoutMs: 15_000 });
    assert.equal(updatesOf('second'), 0);
  });

  it('is rolled out with a warning to a pool that pins it', async () => {
    await patch('third', { releaseVersion: NEW });
    await settledAt('third', NEW);
    const notes = await fixture.world.kubectl(
      'get',
      'events.events.k8s.io',
      '-A',
      '--field-selector=reason=ReleaseNotVerified,type=Warning',
      '-o',
      'jsonpath={range .items[*]}{.regarding.name}: {.note}{"\\n"}{end}',
    );
    assert.match(notes, new RegExp(`^third: .*\\bnode ${bad} of WindowsPool first\\b`, 'm'));
  });

  it('is rolled out to the others when the node is gone and its successor is verified', async () => {
    assert.equal(updatesOf('second'), 0);
    fixture.world.cloud.faults.terminateInstance({ node: bad });
    await settledAt('first', NEW);
    await settledAt('second', NEW);
    assert.equal(updatesOf('second'), 1);
  });
});
