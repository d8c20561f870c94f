import assert from 'node:assert/strict';
import fc from 'fast-check';
import { editDistance } from './editDistance.ts';

describe('the edit distance', () => {
  const rows: readonly (readonly [a: string, b: string, distance: number])[] = [
    ['', '', 0],
    ['web', 'web', 0],
    ['', 'web', 3],
    ['wep', 'web', 1],
    ['we', 'web', 1],
    ['wweb', 'web', 1],
    ['wbe', 'web', 1],
    ['ewb', 'web', 1],
    ['shpo-1', 'shop-2', 2],
    ['ca', 'abc', 3],
  ];
  for (const [a, b, distance] of rows)
    it(`of ${JSON.stringify(a)} and ${JSON.stringify(b)} is ${distance}`, () =>
      assert.equal(editDistance(a, b), distance));

  it('is symmetric, 0 only for equal strings, and at most the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        assert.equal(distance, editDistance(b, a));
        assert.equal(distance === 0, a === b);
        assert.ok(distance <= Math.max(a.length, b.length));
      }),
    );
  });
});
