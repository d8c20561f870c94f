import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change } from './ports.ts';
import { Reflector, type ReflectorHooks } from './reflector.ts';
import { silentLog } from './silentLog.ts';
import { SimulatedClock } from './simulatedClock.ts';
import { type Fault, type SimulatedItem, SimulatedServer, simulatedIdentity } from './simulatedServer.ts';
import { Store } from './store.ts';
import { compareVersions } from './version.ts';

interface World extends AsyncDisposable {
  readonly clock: SimulatedClock;
  readonly server: SimulatedServer;
  readonly store: Store<SimulatedItem>;
  readonly changes: Change<SimulatedItem>[];
  converged(): boolean;
  stop(): Promise<void>;
}

function start(prepare: (server: SimulatedServer) => void = () => undefined, hooks: ReflectorHooks = {}): World {
  const clock = new SimulatedClock();
  const server = new SimulatedServer(clock);
  prepare(server);
  const store = new Store<SimulatedItem>({ identity: simulatedIdentity, log: silentLog });
  const changes: Change<SimulatedItem>[] = [];
  store.subscribe((change) => changes.push(change));
  const stopping = new AbortController();
  const options = {
    name: 'items',
    source: server,
    identity: simulatedIdentity,
    store,
    clock,
    log: silentLog,
    random: () => 0.5,
    hooks,
  };
  const running = new Reflector(options).run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort(new Error('stop'));
    return running;
  };
  const sorted = (items: Iterable<SimulatedItem>): SimulatedItem[] =>
    [...items].sort((a, b) => (a.key < b.key ? -1 : 1));
  const converged = (): boolean => {
    const here = sorted(store.list());
    const there = sorted(server.items.values());
    return (
      store.version === server.version && here.length === there.length && here.every((item, at) => item === there[at])
    );
  };
  return { clock, server, store, changes, converged, stop, [Symbol.asyncDispose]: stop };
}

const FAULTS: Fault[] = [
  'none',
  'refused',
  'busy',
  'failed',
  'expired',
  'cut',
  'repeat',
  'deaf',
  'slow',
  'stale',
  'short',
];
const KEYS = ['a', 'b', 'c', 'd', 'e'];

type Step =
  | { kind: 'write'; key: string }
  | { kind: 'delete'; key: string }
  | { kind: 'compact' }
  | { kind: 'wait'; ms: number }
  | { kind: 'own'; key: string };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('own' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 500, 2_000, 50_000, 700_000) }),
  },
);

async function play(world: World, steps: readonly Step[]): Promise<void> {
  let value = 0;
  for (const step of steps) {
    if (step.kind === 'write') world.server.write(step.key, ++value);
    else if (step.kind === 'delete') world.server.delete(step.key);
    else if (step.kind === 'compact') world.server.compact();
    else if (step.kind === 'own') world.store.observeWrite(world.server.write(step.key, ++value));
    else await world.clock.advance(step.ms);
  }
}

/** What listeners were told, replayed, is what the store holds; and nothing was told twice or backwards. */
function assertFaithful(world: World): void {
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

describe('reflector', () => {
  it('ends up with what the server has, whatever befalls its requests', async () => {
    const scenario = fc.record({
      watchLists: fc.boolean(),
      faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 12 }),
      before: fc.array(stepArbitrary, { maxLength: 5 }),
      steps: fc.array(stepArbitrary, { maxLength: 25 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ watchLists, faults, before, steps }) => {
        await using world = start((server) => {
          server.watchLists = watchLists;
          server.faults.push(...faults);
        });
        await play(world, before);
        await play(world, steps);
        await world.clock.until(world.converged, 'the store equals the server');
        assertFaithful(world);
        await world.stop();
        assert.equal(world.clock.pending, 0, 'no timer outlives the reflector');
      }),
      { numRuns: 300 },
    );
  }).timeout(60_000);

  it('tells of every single change as long as it need not list anew', async () => {
    const faults = FAULTS.filter((fault) => fault !== 'expired');
    const change = stepArbitrary.filter(({ kind }) => kind !== 'compact' && kind !== 'own');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...faults), { maxLength: 10 }),
        fc.array(change, { maxLength: 25 }),
        async (list, steps) => {
          await using world = start();
          await world.clock.until(() => world.store.hasSynced, 'synced');
          world.server.faults.push(...list);
          await play(world, steps);
          await world.clock.until(world.converged, 'the store equals the server');
          assertFaithful(world);
          // A watch that ends without a bookmark leads to a list, and a list knows only the last state of each item.
          if (world.server.requests.filter((request) => request.includes('list')).length > 1) return;
          const told = world.changes.map(({ key, after }) => `${key} ${after?.resourceVersion ?? 'gone'}`);
          const happened = world.server.log.map(
            ({ type, item }) => `${item.key} ${type === 'DELETED' ? 'gone' : item.resourceVersion}`,
          );
          assert.deepEqual(told, happened);
        },
      ),
      { numRuns: 200 },
    );
  }).timeout(60_000);

  it('syncs with one watch list where the server knows it, and with a list at version 0 where it does not', async () => {
    for (const watchLists of [true, false]) {
      await using world = start((server) => {
        server.watchLists = watchLists;
        server.write('a', 1);
      });
      await world.clock.until(() => world.store.hasSynced, 'synced');
      await world.clock.advance(10);
      assert.deepEqual(world.server.requests, watchLists ? ['watch list'] : ['watch list', 'list 0', 'watch 101']);
    }
  });

  it('follows a server whose data were put back to an earlier state, by pages of the newest', async () => {
    await using world = start((server) => {
      server.watchLists = false;
      for (const key of KEYS) server.write(key, 1);
    });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    await world.clock.advance(10);
    world.server.requests.length = 0;
    world.server.rewind();
    for (const key of ['w', 'x', 'y', 'z']) world.server.write(key, 1);
    await world.clock.until(world.converged, 'the store equals the server');
    const lists = world.server.requests.filter((request) => request.startsWith('list'));
    assert.deepEqual(lists, ['list 105', 'list ', 'list 54/3']);
    assert.equal(world.store.size, 4);
  });

  it('asks again without pages when the snapshot of the pages expires, and forgets the pages it has', async () => {
    await using world = start((server) => {
      server.watchLists = false;
      for (const key of KEYS) server.write(key, 1);
    });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.rewind();
    for (const key of ['u', 'v', 'w', 'x', 'y', 'z']) world.server.write(key, 1);
    const list = world.server.list.bind(world.server);
    world.server.list = async (options, signal) => {
      if (options.continueToken) {
        world.server.delete('u');
        world.server.compact();
      }
      return list(options, signal);
    };
    await world.clock.until(world.converged, 'the store equals the server');
    assert.deepEqual(
      world.changes.filter(({ key }) => key === 'u'),
      [],
      'what was deleted between the pages never shows',
    );
  });

  it('lists once where a watch list comes to nothing, and asks for a watch list the next time', async () => {
    await using world = start((server) => {
      server.write('a', 1);
      server.faults.push('short', 'none', 'expired', 'expired');
    });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    await world.clock.until(() => world.server.requests.length >= 5, 'the next sync');
    assert.deepEqual(world.server.requests.slice(0, 5), [
      'watch list',
      'list 0',
      'watch 101',
      'watch list 101',
      'watch list',
    ]);
  });

  it('notices a watch that has gone deaf within a minute', async () => {
    for (const wait of [0, 20_000, 34_999, 35_001, 200_000]) {
      await using world = start((server) => server.faults.push('deaf'));
      await world.clock.until(() => world.store.hasSynced, 'synced');
      await world.clock.advance(wait);
      world.server.write('a', 1);
      const since = world.clock.monotonic();
      await world.clock.until(world.converged, 'the change arrived');
      assert.ok(world.clock.monotonic() - since < 60_000, `after ${world.clock.monotonic() - since} ms`);
    }
  });

  it('counts the events that it was sent, and no bookmark', async () => {
    let events = 0;
    await using world = start((server) => server.write('a', 1), {
      events: (count) => {
        events += count;
      },
    });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    for (const key of KEYS) world.server.write(key, 2);
    world.server.delete('a');
    // Long enough for a bookmark each minute.
    await world.clock.advance(250_000);
    await world.clock.until(world.converged, 'the store equals the server');
    assert.equal(events, world.server.log.length);
  });

  it('doubts no watch that brings something', async () => {
    await using world = start();
    for (let second = 0; second < 300; second += 30) {
      world.server.write('a', second);
      await world.clock.advance(30_000);
    }
    assert.deepEqual(world.server.requests, ['watch list']);
  });

  it('asks at most once in 0.8 s while the server refuses, ever more rarely, and heeds Retry-After', async () => {
    await using world = start((server) => server.faults.push(...Array.from({ length: 200 }, (): Fault => 'refused')));
    await world.clock.advance(60_000);
    assert.ok(world.server.requests.length <= 7, `${world.server.requests.length} requests in a minute`);
    const other = start((server) => server.faults.push('busy'));
    await other.clock.advance(2_900);
    assert.equal(other.server.requests.length, 1);
    await other.clock.advance(200);
    assert.equal(other.server.requests.length, 2);
    await other.stop();
  });

  it('does not hammer a server that ends every watch at once', async () => {
    await using world = start();
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.faults.push('cut', ...Array.from({ length: 200 }, (): Fault => 'short'));
    world.server.compact();
    await world.clock.advance(60_000);
    world.server.requests.length = 0;
    await world.clock.advance(600_000);
    assert.ok(world.server.requests.length <= 30, `${world.server.requests.length} requests in ten minutes`);
  });

  it('stops in the middle of anything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FAULTS), fc.nat({ max: 90_000 }), async (fault, ms) => {
        const world = start((server) => server.faults.push(fault, fault, fault));
        world.server.write('a', 1);
        await world.clock.advance(ms);
        await world.stop();
        assert.equal(world.clock.pending, 0);
      }),
      { numRuns: 60 },
    );
  }).timeout(20_000);
});
