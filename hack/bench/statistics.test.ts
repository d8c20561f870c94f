import assert from 'node:assert/strict';
import fc from 'fast-check';
import { median, partsOf, percentile, slope } from './statistics.ts';

const numbers = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1, maxLength: 50 });

describe('statistics', () => {
  it('compute a percentile that is one of the values, and that the share of values does not exceed', () => {
    fc.assert(
      fc.property(numbers, fc.double({ noNaN: true, min: 0, max: 1 }), (values, share) => {
        const found = percentile(values, share);
        assert.ok(values.includes(found));
        assert.ok(values.filter((value) => value <= found).length >= Math.floor(values.length * share));
      }),
    );
  });

  for (const [values, expected] of [
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 3],
    [[7], 7],
  ] as const) {
    it(`compute ${expected} as the median of ${values.join(', ')}`, () => assert.equal(median(values), expected));
  }

  it('divide values into parts of a size, in their order', () => {
    assert.deepEqual(partsOf([3, 1, 2, 5, 4], 2), [[3, 1], [2, 5], [4]]);
  });

  it('compute the slope of any straight line', () => {
    const whole = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(whole, whole, fc.integer({ min: 2, max: 50 }), (rise, start, count) => {
        const points = Array.from({ length: count }, (_, x) => ({ x, y: start + rise * x }));
        assert.ok(Math.abs(slope(points) - rise) < 1e-6);
      }),
    );
  });

  it('ignore temporary peaks', () => {
    const points = Array.from({ length: 80 }, (_, x) => ({ x, y: 15 + 0.01 * x + (x % 5 === 0 ? 6 : 0) }));
    assert.ok(Math.abs(slope(points) - 0.01) < 0.001, `${slope(points)}`);
  });

  it('compute no slope for a single point', () => assert.equal(slope([{ x: 1, y: 5 }]), 0));
});
