import assert from 'node:assert/strict';
import type { StateOptions } from '../../../hack/localaws/state.ts';
import type { WindowsPoolSpec } from '../api.gen.ts';
import { RETRY_ANNOTATION } from '../labels.ts';
import type { ReconcileResult } from '../model/outcome.ts';
import { desiredFields, entriesOf } from '../providers/eks/applied.ts';
import { type Deps, reconcile } from '../reconcile.ts';
import { FakeWorld } from './fakeWorld.ts';
import { knownStatus, MINUTE, sampleGroup, samplePool } from './fixtures.ts';

export const { signal } = new AbortController();
/** A pool as a user applies it. */
export const fresh = (spec: Partial<WindowsPoolSpec> = {}) =>
  samplePool(spec, { metadata: { finalizers: [], generation: 0 } });

/** The status of the pool's condition Ready. */
export const ready = (world: FakeWorld) =>
  world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** What changes with each write. */
function versionsIn({ pools, runtimeClasses, nodes }: FakeWorld): string {
  const written = [...[...pools.values()].map(({ metadata }) => metadata), ...nodes];
  return JSON.stringify([written.map(({ name, resourceVersion }) => [name, resourceVersion]), [...runtimeClasses]]);
}

/** One run, and the runs that its own writes wake; a report that was put off for a moment is waited for. */
export async function wake(world: FakeWorld, deps: Deps): Promise<ReconcileResult> {
  for (let run = 0; run < 10; run++) {
    const before = versionsIn(world);
    const next = await reconcile('web', deps, signal);
    if (versionsIn(world) !== before) continue;
    if (next.kind !== 'requeueAfter' || next.ms > 1_000) return next;
    world.now += next.ms;
  }
  throw new Error('the pool wakes itself for ever');
}

/** Runs until the wanted is true, at most 30 times, and lets the time pass that each run asks for. */
export async function until(world: FakeWorld, deps: Deps, wanted: () => boolean, what: string): Promise<void> {
  for (let run = 0; run < 30; run++) {
    const next = await wake(world, deps);
    if (wanted()) return;
    world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
  }
  throw new Error(
    `${what} does not come true: ${JSON.stringify([...world.pools.values()].map(({ status }) => status))}`,
  );
}

/** Lets hours pass, with all the looks that fall into them. Gives the times at which an update was sent to EKS. */
export async function hours(world: FakeWorld, deps: Deps, count: number): Promise<string[]> {
  const end = world.now + count * 60 * MINUTE;
  const sent: string[] = [];
  while (world.now < end) {
    const [at, known] = [world.now, world.calls.length];
    const next = await wake(world, deps);
    if (updatesIn(world.calls.slice(known)).length > 0) sent.push(new Date(at).toISOString());
    world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
  }
  return sent;
}

/** The calls that change a node group. */
export function updatesIn(calls: readonly string[]): string[] {
  return calls.filter((call) => call.startsWith('UpdateNodegroup'));
}

/** Gives the pool the annotation that asks for another try. */
export function retry(world: FakeWorld, value: string): void {
  const pool = world.pools.get('web');
  if (!pool) throw new Error('there is no pool');
  world.pools.set('web', { ...pool, metadata: { ...pool.metadata, annotations: { [RETRY_ANNOTATION]: value } } });
}

/** What status tells of the pool's node group. */
export const stateOf = (world: FakeWorld) => world.pools.get('web')?.status?.nodeGroup;

/** A condition of the pool: `False Updating: EKS is updating`. */
export function conditionOf(world: FakeWorld, wanted: string): string | undefined {
  const found = world.pools.get('web')?.status?.conditions?.find(({ type }) => type === wanted);
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

/** A world with a pool that is Ready for an hour, and nothing counted yet. */
export async function readyWorld(
  spec: Partial<WindowsPoolSpec> = {},
  options: Partial<StateOptions> = {},
): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld(options);
  const pool = samplePool(spec);
  world.makeGroup(sampleGroup(pool));
  world.apply({ ...pool, status: knownStatus({ applied: entriesOf(desiredFields(pool)) }) });
  const deps = world.start();
  await wake(world, deps);
  assert.equal(ready(world), 'True');
  world.awsCalls();
  world.events.splice(0);
  return { world, deps };
}

/** What is asked of AWS before a group is made. */
export const PREREQUISITE_CALLS = [
  'DescribeAddon',
  'DescribeAccessEntry',
  'ListAttachedRolePolicies',
  'DescribeInstanceTypes',
  'DescribeInstanceTypeOfferings',
  'DescribeSubnets',
] as const;
