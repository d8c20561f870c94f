/** Updates that are tried on a canary first, against a real API server. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { secondNameOf } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { conditionOf, hasConditions, messageOf, READY, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** The shortest time that the API accepts. */
const AFTER_MS = 60_000;
const UPDATE = { update: { canary: { nodes: 1, soakDuration: '1m' } } };

/** A pool whose canary passes, with its custom AMIs, and one whose canary fails, with its releases. */
const [PASSING, FAILING] = ['canary', 'canary-failing'];
const [OLD_IMAGE, NEW_IMAGE] = ['ami-0c00000000000003c', 'ami-0c00000000000004d'];
const [OLD, NEW] = ['1.36-2026.03.17', '1.36-2026.04.18'];

const canaryIn = (pool: WindowsPool | undefined) => pool?.status?.nodeGroup?.canary;
const releaseIn = (pool: WindowsPool | undefined) => pool?.status?.nodeGroup?.releaseVersion;

describe('an update with a canary', function () {
  this.timeout(180_000);
  const fixture = withOperator('--resync-interval=1s');
  const groupsOf = (name: string) =>
    [...fixture.world.cloud.state.groups.values()]
      .map(({ nodegroup }) => nodegroup)
      .filter(({ tags }) => tags?.['winpool.dev/pool'] === name);
  const canaryOf = async (name: string) => {
    const pool = await fixture.world.pool(name);
    return secondNameOf(pool ?? assert.fail(`there is no pool ${name}`));
  };
  const wrong: string[] = [];
  /** Called at each event of the pool: it keeps serving, with at most two groups. */
  const watched = (isDone: (pool: WindowsPool | undefined) => boolean) => (pool: WindowsPool | undefined) => {
    const groups = groupsOf(pool?.metadata.name ?? '').length;
    if (groups > 2) wrong.push(`there were ${groups} groups`);
    if (!conditionOf(pool, 'Ready').startsWith('True')) wrong.push(`Ready was ${conditionOf(pool, 'Ready')}`);
    return isDone(pool);
  };

  before(async () => {
    for (const id of [OLD_IMAGE, NEW_IMAGE]) fixture.world.cloud.faults.image({ id });
    const scaling = { minSize: 2, maxSize: 4 };
    await fixture.world.apply(poolManifest(PASSING, { nodeGroup: { ami: { id: OLD_IMAGE }, ...UPDATE, scaling } }));
    await fixture.world.apply(poolManifest(FAILING, { nodeGroup: { releaseVersion: OLD, ...UPDATE, scaling } }));
    for (const name of [PASSING, FAILING])
      await fixture.world.waitForConditions(name, READY, 'NodeGroupReady=True/Active');
  });

  it('begins with another node group, whose node has its own label, and leaves the main group alone', async () => {
    await fixture.world.patchPool(PASSING, { nodeGroup: { ami: { id: NEW_IMAGE } } });
    const pool = await fixture.world.waitForPool(
      PASSING,
      'to have a verified canary',
      watched((found) => canaryIn(found)?.phase === 'Soaking'),
    );
    const name = await canaryOf(PASSING);
    assert.deepEqual([canaryIn(pool)?.name, canaryIn(pool)?.verified, releaseIn(pool)], [name, 1, OLD_IMAGE]);
    assert.equal(conditionOf(pool, 'UpToDate'), 'False/CanaryRunning');
    const selector = `eks.amazonaws.com/nodegroup=${name},eks.amazonaws.com/nodegroup-image=${NEW_IMAGE}`;
    const found = await fixture.world.kubectl('get', 'nodes', '-l', selector, '-o', 'name');
    assert.equal(found.trim().split('\n').length, 1, found);
  });

  it('is not made if the node of the canary fails verification; the canary is deleted', async () => {
    fixture.world.cloud.faults.nextNode({ group: await canaryOf(FAILING), build: '10.0.17763' });
    await fixture.world.patchPool(FAILING, { nodeGroup: { releaseVersion: NEW } });
    const pool = await fixture.world.waitForPool(
      FAILING,
      'to have a failed canary, which is gone',
      watched((found) => conditionOf(found, 'UpToDate') === 'False/CanaryFailed' && canaryIn(found) === undefined),
    );
    assertNames(messageOf(pool, 'UpToDate'), 'WrongBuild', /\bNode group \S+ was not updated\b/);
    assert.deepEqual(
      groupsOf(FAILING).map(({ nodegroupName, releaseVersion }) => [nodegroupName, releaseVersion]),
      [[FAILING, OLD]],
    );
  });

  it('is made when its nodes have been verified for long enough; then the canary is drained and deleted', async () => {
    const since = Date.parse(canaryIn(await fixture.world.pool(PASSING))?.lastTransitionTime ?? '');
    await fixture.world.waitForPool(
      PASSING,
      'to be updated',
      watched((found) => releaseIn(found) === NEW_IMAGE),
      120_000,
    );
    const elapsed = Date.now() - since;
    assert.ok(elapsed >= AFTER_MS, `the node group was updated after ${elapsed} ms`);
    await fixture.world.waitForPool(
      PASSING,
      'to have one node group as specified',
      watched((found) => canaryIn(found) === undefined && hasConditions(found, UP_TO_DATE)),
    );
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      groupsOf(PASSING).map(({ nodegroupName, releaseVersion, status }) => [nodegroupName, releaseVersion, status]),
      [[PASSING, NEW_IMAGE, 'ACTIVE']],
    );
  });
});
