import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StreamFailure } from './failure.ts';
import type { ListWatch } from './ports.ts';
import type { ReflectorHooks } from './reflector.ts';
import type { SimulatedClock } from './testing/simulatedClock.ts';
import type { Fault, SimulatedItem, SimulatedServer } from './testing/simulatedServer.ts';
import {
  anyStep,
  assertEverythingReported,
  assertFaithful,
  KEYS,
  play,
  type SimulatedWorld,
  startSimulatedWorld,
} from './testing/simulatedWorld.ts';

const start = (prepare?: (server: SimulatedServer) => void, hooks?: ReflectorHooks): SimulatedWorld =>
  startSimulatedWorld({ ...(prepare && { prepare }), ...(hooks && { hooks }) });

/** Records whether the reflector fails. */
const failures = () => {
  const reported = {
    lasting: false,
    failing: (now: boolean) => {
      assert.notEqual(now, reported.lasting, 'told although nothing turned');
      reported.lasting = now;
    },
  };
  return reported;
};

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
describe('reflector', () => {
  it('ends up with what the server has, whatever befalls its requests', async () => {
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

  it('tells of every single change as long as it need not list anew', async () => {
    const faults = FAULTS.filter((fault) => fault !== 'expired');
    const change = anyStep.filter(({ kind }) => kind !== 'compact' && kind !== 'own');
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

  it('goes on soon after a watch that worked for a while, however often watches break', async () => {
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

  it('lists anew at once when the server is back and has forgotten its history, and does not hammer it when it forgets again', async () => {
    await using world = start();
    await world.clock.until(() => world.store.hasSynced, 'synced');
    const times: number[] = [];
    const watch = world.server.watch.bind(world.server);
    world.server.watch = (...args) => {
      times.push(world.clock.monotonic());
      return watch(...args);
    };
    world.server.faults.push('refused', 'refused', 'refused', 'expired', 'expired', 'expired');
    await world.clock.until(() => times.length >= 7, 'seven watches');
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.deepEqual(waits, [1_200, 2_400, 4_800, 0, 19_200, 38_400]);
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

  it('says that it fails from the first failure until the watch works again, though nothing changes', async () => {
    const reported = failures();
    await using world = start(undefined, reported);
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.faults.push('cut', ...Array.from({ length: 8 }, (): Fault => 'refused'));
    await world.clock.until(() => reported.lasting, 'it fails');
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(1_000);
      assert.ok(reported.lasting, `${second} s after it failed, and the server refuses on`);
    }
    await world.clock.until(() => !reported.lasting, 'it follows again');
    assert.deepEqual(world.server.faults, []);
  });

  for (const how of ['ends', 'resets'] as const)
    it(`fails for no longer than a minute where something ${how} each watch that is silent for half of one`, async () => {
      const reported = failures();
      await using world = startSimulatedWorld({
        hooks: reported,
        way: (server, clock) => impatient(server, clock, how),
      });
      await world.clock.until(() => world.store.hasSynced, 'synced');
      world.server.faults.push('refused');
      let lasting = 0;
      for (let second = 0; second < 3_600; second++) {
        await world.clock.advance(1_000);
        lasting = reported.lasting ? lasting + 1 : 0;
        assert.ok(lasting <= 60, 'it has failed for a minute');
      }
    });

  it('notices within three minutes that the server was restarted with data of before, though nothing changes in them', async () => {
    const cable = new AbortController();
    await using world = startSimulatedWorld({
      prepare: (server) => server.write('a', 1),
      way: (server) => ({
        list: (options, signal) => server.list(options, signal),
        watch: (options, signal) =>
          server.watch(options, cable.signal.aborted ? signal : AbortSignal.any([signal, cable.signal])),
      }),
    });
    await world.clock.until(() => world.store.hasSynced, 'synced');
    world.server.rewind();
    world.server.write('b', 1);
    cable.abort(new StreamFailure('read ECONNRESET'));
    await world.clock.advance(180_000);
    assert.ok(world.converged());
  });

  it('stops in the middle of anything, and fails no more then', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FAULTS), fc.nat({ max: 90_000 }), async (fault, ms) => {
        const reported = failures();
        const world = start((server) => server.faults.push(fault, fault, fault), reported);
        world.server.write('a', 1);
        await world.clock.advance(ms);
        await world.stop();
        assert.equal(world.clock.pending, 0);
        assert.equal(reported.lasting, false);
      }),
      { numRuns: 60 },
    );
  }).timeout(20_000);
});
