/** A reflector between a simulated server and a store, and the invariants of a reflector. For tests. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change, Identity, ListWatch } from '../ports.ts';
import { Reflector, type ReflectorHooks } from '../reflector.ts';
import { Store } from '../store.ts';
import { compareVersions } from '../version.ts';
import { silentLog } from './silentLog.ts';
import { SimulatedClock } from './simulatedClock.ts';
import { type SimulatedItem, SimulatedServer, simulatedIdentity } from './simulatedServer.ts';

export interface SimulatedWorld extends AsyncDisposable {
  readonly clock: SimulatedClock;
  readonly server: SimulatedServer;
  readonly store: Store<SimulatedItem>;
  /** The changes that listeners received. */
  readonly changes: Change<SimulatedItem>[];
  /** The store's version and the number of changes at the first sync. */
  readonly atSync: { version: string; changes: number };
  /** Whether the store equals the server's collection. */
  converged(): boolean;
  /** See Reflector.relist. */
  relist(): void;
  stop(): Promise<void>;
}

interface Setting {
  readonly prepare?: (server: SimulatedServer) => void;
  readonly hooks?: ReflectorHooks;
  /** Wraps the server. */
  readonly way?: (server: SimulatedServer, clock: SimulatedClock) => ListWatch<SimulatedItem>;
  readonly identity?: Identity<SimulatedItem>;
}

/** Starts a reflector. Dispose the world to stop it. */
export function startSimulatedWorld(setting: Setting = {}): SimulatedWorld {
  const { prepare, hooks = {}, way, identity = simulatedIdentity } = setting;
  const clock = new SimulatedClock();
  const server = new SimulatedServer(clock);
  prepare?.(server);
  const store = new Store<SimulatedItem>({ identity, log: silentLog });
  const changes: Change<SimulatedItem>[] = [];
  store.subscribe((change) => changes.push(change));
  const atSync = { version: '', changes: 0 };
  const listed = (items: number): void => {
    if (atSync.version === '') Object.assign(atSync, { version: store.version, changes: changes.length });
    hooks.listed?.(items);
  };
  const stopping = new AbortController();
  const options = {
    name: 'items',
    source: way?.(server, clock) ?? server,
    identity,
    store,
    clock,
    log: silentLog,
    random: () => 0.5,
    hooks: { ...hooks, listed },
  };
  const reflector = new Reflector(options);
  const running = reflector.run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort(new Error('stop'));
    return running;
  };
  const converged = (): boolean => {
    const here = sorted(store.list());
    const there = sorted(server.items.values());
    return store.version === server.version && JSON.stringify(here) === JSON.stringify(there);
  };
  const relist = (): void => reflector.relist();
  return { clock, server, store, changes, atSync, converged, relist, stop, [Symbol.asyncDispose]: stop };
}

function sorted(items: Iterable<SimulatedItem>): unknown[] {
  return [...items]
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, uid, resourceVersion, value }) => [key, uid, resourceVersion, value]);
}

export const KEYS = ['a', 'b', 'c', 'd', 'e'];

/** A step of a test: a change by another client, an own write, compaction, a new list, or passing time. */
export type Step =
  | { kind: 'write'; key: string }
  | { kind: 'delete'; key: string }
  | { kind: 'compact' }
  | { kind: 'relist' }
  | { kind: 'wait'; ms: number }
  | { kind: 'own'; key: string };

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('own' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'relist' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 500, 2_000, 50_000, 700_000) }),
  },
);

/** Runs the steps in order. */
export async function play(world: SimulatedWorld, steps: readonly Step[]): Promise<void> {
  let value = 0;
  for (const step of steps) {
    if (step.kind === 'write') world.server.write(step.key, ++value);
    else if (step.kind === 'delete') world.server.delete(step.key);
    else if (step.kind === 'compact') world.server.compact();
    else if (step.kind === 'relist') world.relist();
    else if (step.kind === 'own') world.store.observeWrite(world.server.write(step.key, ++value));
    else await world.clock.advance(step.ms);
  }
}

/** Replaying the changes that listeners received gives the store, and no change was repeated or went back to an older version. */
export function assertFaithful(world: SimulatedWorld): void {
  const replayed = new Map<string, SimulatedItem>();
  for (const { key, before, after } of world.changes) {
    assert.equal(before, replayed.get(key), 'a change begins where the one before ended');
    assert.ok(before || after, 'a change is never empty');
    if (before && after)
      assert.ok(compareVersions(after.resourceVersion, before.resourceVersion) > 0, 'never backwards, never twice');
    if (after) replayed.set(key, after);
    else replayed.delete(key);
  }
  assert.deepEqual(new Map(world.store.list().map((item) => [item.key, item])), replayed);
}

/** Listeners received each change since the first sync once and in order. Not checked after a relist, which has only the latest states. */
export function assertEverythingReported(world: SimulatedWorld): void {
  if (world.server.requests.filter((request) => request.includes('list')).length > 1) return;
  const { version, changes } = world.atSync;
  const received = world.changes.slice(changes).map(({ key, after }) => `${key} ${after?.resourceVersion ?? 'gone'}`);
  const happened = world.server.log
    .filter(({ item }) => compareVersions(item.resourceVersion, version) > 0)
    .map(({ type, item }) => `${item.key} ${type === 'DELETED' ? 'gone' : item.resourceVersion}`);
  assert.deepEqual(received, happened);
}
