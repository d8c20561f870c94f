/** List and watch, decoder, reflector and store together, on a wire that breaks at every byte. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SimulatedServer } from '../runtime/testing/simulatedServer.ts';
import {
  anyStep,
  assertEverythingReported,
  assertFaithful,
  KEYS,
  play,
  type SimulatedWorld,
  startSimulatedWorld,
} from '../runtime/testing/simulatedWorld.ts';
import { createListWatch } from './listWatch.ts';
import { BREAKS, type Breaking, SimulatedWire, type WireFormat, wireFormats } from './testing/simulatedWire.ts';

/** A reflector whose wire breaks one response after the other in these ways. */
function start(
  format: WireFormat,
  breakings: readonly Breaking[],
  prepare: (server: SimulatedServer) => void,
): SimulatedWorld {
  return startSimulatedWorld({
    prepare,
    way: (server, clock) => {
      const client = new SimulatedWire(server, clock, format);
      client.breakings.push(...breakings);
      return createListWatch({ client, path: '/apis/example.com/v1/items', decoder: format.decoder });
    },
  });
}

async function assertConverges(world: SimulatedWorld): Promise<void> {
  await world.clock.until(world.converged, 'the store equals the server');
  assertFaithful(world);
  assertEverythingReported(world);
  await world.stop();
  assert.equal(world.clock.pending, 0, 'no timer outlives the reflector');
}

/** Two items, then a change of each kind, and one to an item that was added. */
const prepare = (server: SimulatedServer): void => {
  server.write('a', 1);
  server.write('b', 2);
};
async function change(world: SimulatedWorld): Promise<void> {
  await world.clock.advance(1);
  world.server.write('a', 3);
  world.server.delete('b');
  await world.clock.advance(1);
  world.server.write('c', 4);
  world.server.write('b', 5);
}

describe('a broken connection', () => {
  for (const [name, format] of Object.entries(wireFormats)) {
    const answers = [
      ['a watch list and its changes', true],
      ['a list', false],
    ] as const;
    for (const how of BREAKS.filter((each) => each !== 'none')) {
      for (const [what, watchLists] of answers) {
        const requests = watchLists ? ['watch list'] : ['watch list', 'list 0', 'watch 106'];
        it(`that fails with '${how}' at any byte of ${what} in ${name} loses nothing`, async () => {
          const bytes = await lengthOf(format, watchLists);
          assert.ok(bytes > 80, `${bytes} bytes`);
          for (let at = 0; at < bytes; at++) {
            const breaking = { how, at, pieceBytes: 7 };
            // Of the watch list that is rejected.
            const first = watchLists ? [] : [{ ...breaking, how: 'none' as const }];
            await using world = start(format, [...first, breaking], (server) => {
              server.watchLists = watchLists;
              prepare(server);
            });
            await change(world);
            await assertConverges(world);
            if (how === 'stall')
              assert.deepEqual(world.server.requests, requests, 'what only comes late is not asked for again');
          }
        }).timeout(30_000);
      }
    }

    it(`that fails in any way during many responses in ${name} loses nothing`, async () => {
      const breaking: fc.Arbitrary<Breaking> = fc.record({
        how: fc.constantFrom(...BREAKS),
        at: fc.nat({ max: 1_000 }),
        pieceBytes: fc.integer({ min: 1, max: 400 }),
      });
      const scenario = fc.record({
        watchLists: fc.boolean(),
        breakings: fc.array(breaking, { maxLength: 12, size: 'max' }),
        steps: fc.array(anyStep, { maxLength: 25, size: 'max' }),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ watchLists, breakings, steps }) => {
          await using world = start(format, breakings, (server) => {
            server.watchLists = watchLists;
            for (const key of KEYS) server.write(key, 1);
          });
          await play(world, steps);
          await world.clock.until(world.converged, 'the store equals the server');
          assertFaithful(world);
        }),
        { numRuns: 1_000 },
      );
    }).timeout(60_000);
  }
});

/** The length of the response that a test breaks, which is known only once it was sent. */
async function lengthOf(format: WireFormat, watchLists: boolean): Promise<number> {
  await using world = startSimulatedWorld({ prepare });
  await change(world);
  await world.clock.until(world.converged, 'the store equals the server');
  const { log, items, version } = world.server;
  // A server without watch lists rejects the first request; the list follows the changes.
  if (!watchLists) return format.page({ items: [...items.values()], resourceVersion: version }).length;
  const bookmark = { type: 'BOOKMARK', resourceVersion: '102', initialEventsEnd: true } as const;
  return [...log.slice(0, 2), bookmark, ...log.slice(2)].reduce((sum, event) => sum + format.event(event).length, 0);
}
