import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Backoff } from './backoff.ts';
import { SimulatedClock } from './testing/simulatedClock.ts';

describe('the backoff', () => {
  it('doubles from 0.8 s to 30 s', () => {
    const backoff = new Backoff(new SimulatedClock(), () => 0);
    const delays = Array.from({ length: 8 }, () => backoff.next());
    assert.deepEqual(delays, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('is reset after two minutes without a failure', async () => {
    const clock = new SimulatedClock();
    const backoff = new Backoff(clock, () => 0);
    for (const _ of [1, 2, 3]) backoff.next();
    await clock.advance(120_000);
    assert.equal(backoff.next(), 6_400);
    await clock.advance(6_400 + 120_001);
    assert.equal(backoff.next(), 800);
  });

  it('adds a random delay of up to 100%', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat({ max: 20 }),
        (random, failures) => {
          const backoff = new Backoff(new SimulatedClock(), () => random);
          for (let count = 0; count < failures; count++) backoff.next();
          const delay = backoff.next();
          const least = Math.min(30_000, 800 * 2 ** failures);
          assert.ok(delay >= least && delay <= 2 * least, `${delay} for ${least}`);
        },
      ),
    );
  });
});
