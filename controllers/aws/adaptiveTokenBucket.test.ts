import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AdaptiveTokenBucket } from './adaptiveTokenBucket.ts';

const RATE = { perSecond: 20, burst: 100 };

/** The wait of each of `count` reservations, in milliseconds. */
function waits(bucket: AdaptiveTokenBucket, count: number, now: number): number[] {
  return Array.from({ length: count }, () => bucket.reserve(now));
}

describe('an adaptive token bucket', () => {
  it('grants a burst at once and the rest at its rate, in order', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    assert.deepEqual(waits(bucket, 100, 0), Array(100).fill(0));
    assert.deepEqual(waits(bucket, 4, 0), [50, 100, 150, 200]);
  });

  it('refills up to its burst while it is not used', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    waits(bucket, 100, 0);
    assert.deepEqual(waits(bucket, 21, 1_000), [...Array(20).fill(0), 50]);
    assert.deepEqual(waits(bucket, 101, 1_000_000), [...Array(100).fill(0), 50]);
  });

  it('is empty and half as fast after a throttled call', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    bucket.slowDown(0, 0);
    assert.deepEqual(waits(bucket, 3, 0), [100, 200, 300]);
  });

  it('slows down once for concurrent calls', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    for (const sentAt of [100, 110, 120]) bucket.slowDown(200, sentAt);
    assert.equal(bucket.perSecond(200), 10);
    bucket.slowDown(300, 250);
    assert.equal(bucket.perSecond(300), 5.05);
  });

  it('recovers by one call per second each second, and then its burst', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    bucket.slowDown(0, 0);
    assert.deepEqual(
      [0, 1_000, 5_000, 10_000, 20_000].map((now) => bucket.perSecond(now)),
      [10, 11, 15, 20, 20],
    );
    assert.equal(waits(bucket, 100, 9_000).filter((wait) => wait === 0).length, 19, 'one second of calls');
    assert.equal(waits(bucket, 100, 100_000).filter((wait) => wait === 0).length, 100);
  });

  it('never stops: the slowest rate is one call in two seconds', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    for (let i = 0; i < 20; i++) bucket.slowDown(0, 0);
    assert.equal(bucket.perSecond(0), 0.5);
    assert.equal(bucket.reserve(0), 2_000);
  });

  it('counts calls that were made without a reservation, and accepts returned tokens', () => {
    const bucket = new AdaptiveTokenBucket(RATE);
    bucket.charge(100, 0);
    assert.equal(bucket.reserve(0), 50);
    bucket.charge(-1, 0);
    assert.equal(bucket.reserve(0), 50);
  });

  it('never allows more calls than burst and rate together', () => {
    const step = fc.record({ after: fc.integer({ min: 0, max: 2_000 }), throttled: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const bucket = new AdaptiveTokenBucket(RATE);
        let now = 0;
        const allowed: number[] = [];
        for (const { after, throttled } of steps) {
          now += after;
          if (throttled) bucket.slowDown(now, now);
          else allowed.push(now + bucket.reserve(now));
        }
        const last = Math.max(0, ...allowed);
        assert.ok(
          allowed.length <= RATE.burst + (last / 1_000) * RATE.perSecond + 1e-6,
          `${allowed.length} by ${last} ms`,
        );
        assert.ok(allowed.every((at) => Number.isFinite(at) && at >= 0));
      }),
    );
  });
});
