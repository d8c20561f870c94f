import assert from 'node:assert/strict';
import type { Deps } from './reconcile.ts';
import type { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, samplePool } from './testing/fixtures.ts';
import { fresh, readyWorld, wake } from './testing/life.ts';

const NEXT = '1.36-2026.03.17';
const AFTER_NEXT = '1.36-2026.04.18';
const ERRORS = [{ code: 'NodeCreationFailure', message: 'No node joined', resourceIds: [] }];

/** A pool that follows the newest release. */
function automatic() {
  const update = { policy: 'Automatic' as const, force: false };
  return fresh({ nodeGroup: { ...samplePool().spec.nodeGroup, update } });
}

const stateOf = (world: FakeWorld) => world.pools.get('web')?.status?.nodeGroup;
const conditionOf = (world: FakeWorld, wanted: string) => {
  const found = world.pools.get('web')?.status?.conditions?.find(({ type }) => type === wanted);
  return found && `${found.status} ${found.reason}: ${found.message}`;
};
const updatesIn = (calls: readonly string[]) => calls.filter((call) => call.startsWith('Update'));

/** Lets hours pass, and gives the times at which an update was sent. */
async function hours(world: FakeWorld, deps: Deps, count: number): Promise<string[]> {
  const end = world.now + count * 60 * MINUTE;
  const sent: string[] = [];
  let known = updatesIn(world.calls).length;
  while (world.now < end) {
    const at = new Date(world.now).toISOString();
    const next = await wake(world, deps);
    const now = updatesIn(world.calls).length;
    if (now > known) sent.push(at);
    known = now;
    world.now += next.kind === 'after' ? next.ms : 2_000;
  }
  return sent;
}

describe('an automatic update', () => {
  it('that failed leaves the pool Ready, and the next release is tried by itself', async () => {
    const { world, deps } = await readyWorld();
    world.newestRelease = NEXT;
    world.updateErrors = ERRORS;
    world.apply(automatic());
    assert.equal((await hours(world, deps, 3)).length, 1);
    const told = ['Ready', 'Stalled', 'Reconciling'].map((type) => conditionOf(world, type)?.split(':')[0]);
    assert.deepEqual(told, ['True Verified', undefined, undefined]);
    assert.match(
      conditionOf(world, 'UpToDate') ?? '',
      /^False UpdateFailed: .*1\.36-2026\.03\.17 is the newest\. Update .* failed: NodeCreationFailure: No node joined\. .*winpool\.dev\/retry changes; the next release is\.$/,
    );
    const warnings = world.events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    assert.deepEqual(warnings, ['UpdateFailed']);
    world.updateErrors = [];
    world.newestRelease = AFTER_NEXT;
    assert.equal((await hours(world, deps, 3)).length, 1);
    assert.deepEqual([stateOf(world)?.releaseVersion, stateOf(world)?.failedTarget], [AFTER_NEXT, undefined]);
  });
});
