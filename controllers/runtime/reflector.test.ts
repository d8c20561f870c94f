import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StreamFailure } from './failure.ts';
import type { ListWatch } from './ports.ts';
import type { ReflectorHooks } from './reflector.ts';
import type { SimulatedClock } from './testing/simulatedClock.ts';
import { type Fault, type SimulatedItem, type SimulatedServer, simulatedIdentity } from './testing/simulatedServer.ts';
import {
  anyStep,
  assertEverythingReported,
  assertFaithful,
  KEYS,
  play,
  type SimulatedWorld,
  startSimulatedWorld,
} from './testing/simulatedWorld.ts';

/** Reads the values only while `readsValues` returns true, as an adapter may skip fields that nobody needs. */
function partial(server: SimulatedServer, readsValues: () => boolean): ListWatch<SimulatedItem> {
  const readBy = (reads: boolean) => (item: SimulatedItem) => (reads ? item : { ...item, value: 0 });
  return {
    list: async (options, signal) => {
      const page = await server.list(options, signal);
      return { ...page, items: page.items.map(readBy(readsValues())) };
    },
    async *watch(options, signal) {
      const read = readBy(readsValues());
      for await (const events of server.watch(options, signal))
        yield events.map((event) => ('item' in event ? { ...event, item: read(event.item) } : event));
    },
  };
}

const start = (prepare?: (server: SimulatedServer) => void, hooks?: ReflectorHooks): SimulatedWorld =>
  startSimulatedWorld({ ...(prepare && { prepare }), ...(hooks && { hooks }) });

/** Records whether the reflector fails. */
const failures = () => {
  const recorder = {
    lasting: false,
    failing: (now: boolean) => {
      assert.notEqual(now, recorder.lasting, 'notified without a change');
      recorder.lasting = now;
    },
  };
  return recorder;
};

/** Watches that fail when the cable is cut. Those that start afterwards use another one. */
const connectedBy =
  (cable: AbortController, server: SimulatedServer): ListWatch<SimulatedItem>['watch'] =>
  (options, signal) =>
    server.watch(options, cable.signal.aborted ? signal : AbortSignal.any([signal, cable.signal]));

/** Restores the server to an earlier state after the reflector has synced, writes one object, and cuts the cable. */
async function restoreServer({ clock, store, server }: SimulatedWorld, cable: AbortController): Promise<void> {
  await clock.until(() => store.hasSynced, 'synced');
  server.rewind();
  server.write('b', 1);
  cable.abort(new StreamFailure('read ECONNRESET'));
}

/** A proxy that ends or resets each watch without data for half a minute. */
function impatient(server: SimulatedServer, clock: SimulatedClock, how: 'ends' | 'resets'): ListWatch<SimulatedItem> {
  return {
    list: (options, signal) => server.list(options, signal),
    async *watch(options, signal) {
      const over = new AbortController();
      const both = AbortSignal.any([signal, over.signal]);
      let timer: Disposable | undefined;
      try {
        for await (const events of server.watch(options, both)) {
          // The API server sends no bookmark at the start of a watch.
          if (timer === undefined && events.every((event) => event.type === 'BOOKMARK' && !event.initialEventsEnd)) {
            timer = clock.after(30_000, () => over.abort());
            continue;
          }
          timer?.[Symbol.dispose]();
          timer = clock.after(30_000, () => over.abort());
          yield events;
        }
      } catch (error) {
        if (!over.signal.aborted) throw error;
        if (how === 'resets') throw new StreamFailure('read ECONNRESET');
      } finally {
        timer?.[Symbol.dispose]();
      }
    },
  };
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
describe('the reflector', () => {
  it('converges to the state of the server, regardless of failed requests', async () => {
    const scenario = fc.record({
      watchLists: fc.boolean(),
      faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 12, size: 'max' }),
      before: fc.array(anyStep, { maxLength: 5 }),
      steps: fc.array(anyStep, { maxLength: 25, size: 'max' }),
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

  it('has all fields of every item after a new list, regardless of failed requests and of what happens meanwhile', async () => {
    const scenario = fc.record({
      watchLists: fc.boolean(),
      faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 8, size: 'max' }),
      before: fc.array(anyStep, { maxLength: 10 }),
      after: fc.array(anyStep, { maxLength: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ watchLists, faults, before, after }) => {
        let readsValues = false;
        await using world = startSimulatedWorld({
          prepare: (server) => Object.assign(server, { watchLists }),
          way: (server) => partial(server, () => readsValues),
          identity: {
            ...simulatedIdentity,
            completes: (known, newer) => known.value === 0 && newer.value !== 0,
          },
        });
        world.server.faults.push(...faults);
        await play(world, before);
        readsValues = true;
        world.relist();
        await play(world, after);
        await world.clock.until(world.converged, 'the store equals the server');
      }),
      { numRuns: 300 },
    );
  }).timeout(60_000);

  it('does not count a new list that it was asked for as a failure, and does not wait', async () => {
    let failed = 0;
    await using world = start((server) => void server.write('a', 1), { failed: () => failed++ });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    await world.clock.advance(10);
    world.relist();
    await world.clock.advance(10);
    assert.deepEqual([world.server.requests, failed], [['watch list', 'watch list 101'], 0]);
  });

  it('reports every change while it does not relist', async () => {
    const faults = FAULTS.filter((fault) => fault !== 'expired');
    const change = anyStep.filter(({ kind }) => kind !== 'compact' && kind !== 'relist' && kind !== 'own');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...faults), { maxLength: 10 }),
        fc.array(change, { maxLength: 25, size: 'max' }),
        async (list, steps) => {
          await using world = start();
          await world.clock.until(() => world.store.hasSynced, 'synced');
          world.server.faults.push(...list);
          await play(world, steps);
          await world.clock.until(world.converged, 'the store equals the server');
          assertFaithful(world);
          assertEverythingReported(world);
        },
      ),
      { numRuns: 200 },
    );
  }).timeout(60_000);

  it('syncs with one watch list if the server supports it, otherwise with a list at version 0', async () => {
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

  it('relists the most recent version in pages if the server was restored to an earlier state', async () => {
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

  it('lists again without pages if the snapshot of the pages expires', async () => {
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

  it('lists once if a watch list does not complete, and requests a watch list the next time', async () => {
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

  it('detects a watch that misses changes within a minute', async () => {
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

  it('resumes soon after a watch that worked, regardless of the number of broken watches', async () => {
    await using world = start((server) => server.faults.push(...Array.from({ length: 20 }, (): Fault => 'cut')));
    await world.clock.until(() => world.store.hasSynced, 'synced');
    for (let value = 1; value < 40; value++) {
      await world.clock.advance(15_000);
      world.server.write('a', value);
      const since = world.clock.monotonic();
      await world.clock.until(world.converged, 'the change arrived');
      assert.ok(world.clock.monotonic() - since < 2_000, `after ${world.clock.monotonic() - since} ms`);
    }
  });

  it('counts events without bookmarks', async () => {
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

  it('leaves out only the objects that cannot be read, and names them', async () => {
    const bad = { name: 'bad', message: 'no UID' };
    const broken = (server: SimulatedServer): ListWatch<SimulatedItem> => ({
      list: async (options, signal) => ({ ...(await server.list(options, signal)), unreadable: [bad] }),
      async *watch(options, signal) {
        for await (const events of server.watch(options, signal)) yield [{ type: 'UNREADABLE', ...bad }, ...events];
      },
    });
    for (const watchList of [true, false]) {
      const named: string[] = [];
      await using world = startSimulatedWorld({
        prepare: (server) => {
          server.watchLists = watchList;
          server.write('a', 1);
        },
        way: broken,
        hooks: { unreadable: ({ name, message }) => named.push(`${name}: ${message}`) },
      });
      await world.clock.until(() => world.store.hasSynced, 'synced');
      world.server.write('b', 2);
      await world.clock.until(world.converged, 'the store equals the server');
      assert.deepEqual(new Set(named), new Set(['bad: no UID']));
    }
  });

  it('does not check a watch that receives events', async () => {
    await using world = start();
    for (let second = 0; second < 300; second += 30) {
      world.server.write('a', second);
      await world.clock.advance(30_000);
    }
    assert.deepEqual(world.server.requests, ['watch list']);
  });

  it('retries with backoff from 0.8 s while the server rejects requests, and respects Retry-After', async () => {
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

  it('relists at once after the history expired, and with backoff if it expires again', async () => {
    await using world = start();
    await world.clock.until(() => world.store.hasSynced, 'synced');
    const times: number[] = [];
    const { server } = world;
    const [list, watch] = [server.list.bind(server), server.watch.bind(server)];
    server.list = (...args) => {
      times.push(world.clock.monotonic());
      return list(...args);
    };
    server.watch = (...args) => {
      times.push(world.clock.monotonic());
      return watch(...args);
    };
    server.faults.push('refused', 'refused', 'refused', 'expired', 'expired', 'expired');
    await world.clock.until(() => times.length >= 7, 'seven requests');
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // A list that shows the version comes before each watch that follows a failure. No list expires.
    assert.deepEqual(waits, [1_200, 2_400, 4_800, 0, 0, 19_200]);
  });

  it('retries with backoff if the server ends every watch at once', async () => {
    await using world = start();
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.faults.push('cut', ...Array.from({ length: 200 }, (): Fault => 'short'));
    world.server.compact();
    await world.clock.advance(60_000);
    world.server.requests.length = 0;
    await world.clock.advance(600_000);
    assert.ok(world.server.requests.length <= 30, `${world.server.requests.length} requests in ten minutes`);
  });

  it('reports a failure from the first error until the watch works again, even if nothing changes', async () => {
    const recorder = failures();
    await using world = start(undefined, recorder);
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.faults.push('cut', ...Array.from({ length: 8 }, (): Fault => 'refused'));
    await world.clock.until(() => recorder.lasting, 'it fails');
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(1_000);
      assert.ok(recorder.lasting, `${second} s after it failed, and the server refuses on`);
    }
    await world.clock.until(() => !recorder.lasting, 'it follows again');
    assert.deepEqual(world.server.faults, []);
  });

  for (const how of ['ends', 'resets'] as const)
    it(`fails for at most a minute if a proxy ${how} each watch that is silent for half a minute`, async () => {
      const recorder = failures();
      await using world = startSimulatedWorld({
        hooks: recorder,
        way: (server, clock) => impatient(server, clock, how),
      });
      await world.clock.until(() => world.store.hasSynced, 'synced');
      world.server.faults.push('refused');
      let lasting = 0;
      for (let second = 0; second < 3_600; second++) {
        await world.clock.advance(1_000);
        lasting = recorder.lasting ? lasting + 1 : 0;
        assert.ok(lasting <= 60, 'it has failed for a minute');
      }
    });

  it('detects within three minutes that the server was restored to an earlier state, even if nothing changes', async () => {
    const cable = new AbortController();
    await using world = startSimulatedWorld({
      prepare: (server) => server.write('a', 1),
      way: (server) => ({
        // The list after the failure is answered by another API server, whose etcd was not restored yet.
        list: async (options, signal) =>
          options.limit === 1 ? { items: [], resourceVersion: '1000' } : server.list(options, signal),
        watch: connectedBy(cable, server),
      }),
    });
    await restoreServer(world, cable);
    await world.clock.advance(180_000);
    assert.ok(world.converged());
  });

  it('detects it at the next request after a failure, so that a server that soon reaches the known version hides nothing', async () => {
    const cable = new AbortController();
    let rewound = 0;
    await using world = startSimulatedWorld({
      prepare: (server) => server.write('a', 1),
      hooks: {
        rewound: () => {
          rewound += 1;
        },
      },
      way: (server) => ({
        list: (options, signal) => server.list(options, signal),
        watch: connectedBy(cable, server),
      }),
    });
    await restoreServer(world, cable);
    await world.clock.advance(5_000);
    for (let value = 0; value < 200; value++) world.server.write('c', value);
    await world.clock.advance(5_000);
    assert.ok(world.converged());
    assert.equal(rewound, 1);
  });

  it('can be stopped at any time, and then reports no failure', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FAULTS), fc.nat({ max: 90_000 }), async (fault, ms) => {
        const recorder = failures();
        const world = start((server) => server.faults.push(fault, fault, fault), recorder);
        world.server.write('a', 1);
        await world.clock.advance(ms);
        await world.stop();
        assert.equal(world.clock.pending, 0);
        assert.equal(recorder.lasting, false);
      }),
      { numRuns: 60 },
    );
  }).timeout(20_000);
});
