import assert from 'node:assert/strict';
import type { StateOptions } from '../../../test/fakes/localaws/state.ts';
import type { NodeGroupState } from '../api/api.gen.ts';
import { NODE_GROUP_LABEL, RETRY_ANNOTATION } from '../api/labels.ts';
import type { ReconcileResult } from '../model/outcome.ts';
import { desiredFields, entriesOf } from '../providers/nodeGroup/changes/appliedFields.ts';
import { type Deps, reconcile } from '../reconcile.ts';
import { FakeWorld } from './fakeWorld.ts';
import { knownStatus, MINUTE, type SpecChange, sampleGroup, samplePool } from './fixtures.ts';
import { wholeCondition } from './wholeCondition.ts';

export const { signal } = new AbortController();
/** A pool as a user applies it. */
export const fresh = (spec: SpecChange = {}) => samplePool(spec, { metadata: { finalizers: [], generation: 0 } });

/** The status of the pool's condition Ready. */
export const ready = (world: FakeWorld) =>
  world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** The pending steps in the status of the pool, as `reason: description`. */
export const pendingIn = (world: Pick<FakeWorld, 'pools'>) =>
  (world.pools.get('web')?.status?.pendingSteps ?? []).map(({ description, reason }) => `${reason}: ${description}`);

/** The versions that change with each write. */
function versionsIn({ pools, runtimeClasses, nodes, nodePods }: FakeWorld): string {
  const written = [...[...pools.values()].map(({ metadata }) => metadata), ...nodes, ...nodePods];
  return JSON.stringify([written.map(({ name, resourceVersion }) => [name, resourceVersion]), [...runtimeClasses]]);
}

/** One run, and the runs that its own writes trigger; waits for a throttled write of the status. */
export async function wake(world: FakeWorld, deps: Deps): Promise<ReconcileResult> {
  for (let run = 0; run < 10; run++) {
    const before = versionsIn(world);
    const next = await reconcile('web', deps, signal);
    if (versionsIn(world) !== before) continue;
    if (next.kind !== 'requeueAfter' || next.ms > 1_000) return next;
    world.now += next.ms;
  }
  throw new Error('the pool triggers itself forever');
}

/** Runs until `isDone`, at most 60 times by default, and lets the requested time pass after each run. */
export async function until(
  world: FakeWorld,
  deps: Deps,
  isDone: () => boolean,
  what: string,
  runs = 60,
): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const next = await wake(world, deps);
    if (isDone()) return;
    world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
  }
  throw new Error(`${what} does not happen: ${JSON.stringify([...world.pools.values()].map(({ status }) => status))}`);
}

/** Lets hours pass, with all runs that are due. Returns the times at which an update was sent to EKS. */
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

/** Sets the retry annotation of the pool, or removes it. */
export function retry(world: FakeWorld, value: string | undefined): void {
  const pool = world.pools.get('web');
  if (!pool) throw new Error('there is no pool');
  const annotations = value === undefined ? {} : { [RETRY_ANNOTATION]: value };
  world.pools.set('web', { ...pool, metadata: { ...pool.metadata, annotations } });
}

/** Changes of the retry annotation after a failure, and whether each requests a retry. */
export const RETRIES: readonly (readonly [value: string | undefined, isRetried: boolean])[] = [
  ['1', true],
  ['2', true],
  [undefined, false],
  // The last failure is one of this value.
  ['2', false],
  ['1', true],
  [undefined, false],
];

/** The pool's node group in status. */
/** The first failed change that is still due, of a node group's state. */
export const openFailure = (state: NodeGroupState | undefined) =>
  state?.failedChanges?.find(({ target }) => target !== undefined);

export const stateOf = (world: FakeWorld) => world.pools.get('web')?.status?.nodeGroup;

/** A condition of the pool: `False Updating: EKS is updating`. */
export function conditionOf(world: FakeWorld, conditionType: string): string | undefined {
  const found = wholeCondition(world.pools.get('web'), conditionType);
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

/** Whether the node group that the spec describes serves the pool, and the old one is gone. */
export const isReplaced = (world: FakeWorld) => () =>
  stateOf(world)?.replacement === undefined && conditionOf(world, 'UpToDate')?.startsWith('True') === true;

/** The nodes of one node group, by their label. */
export const nodesIn = (world: FakeWorld, group: string) =>
  world.nodes.filter(({ labels }) => labels[NODE_GROUP_LABEL] === group);

/** A world with a pool that has been Ready for an hour, and with empty counts. */
export async function readyWorld(
  spec: SpecChange = {},
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

/** The AWS calls before a group is created. */
export const PREREQUISITE_CALLS = [
  'DescribeAddon',
  'DescribeAccessEntry',
  'ListAttachedRolePolicies',
  'DescribeInstanceTypes',
  'DescribeInstanceTypeOfferings',
  'DescribeSubnets',
  'DescribeSecurityGroups',
  'GetEbsEncryptionByDefault',
  'GetRole',
] as const;
