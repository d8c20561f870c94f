import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseQuantity } from './quantity.ts';

describe('a quantity', () => {
  const good: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['9', 9],
    ['110', 110],
    ['1500m', 1.5],
    ['0.5', 0.5],
    ['-1', -1],
    ['2k', 2_000],
    ['2Ki', 2_048],
    ['8388608Ki', 8 * 1024 ** 3],
    ['1.5Gi', 1.5 * 1024 ** 3],
    ['3G', 3e9],
    ['12e3', 12_000],
    ['12E3', 12_000],
    ['1E', 1e18],
    ['1Ei', 1024 ** 6],
  ];
  for (const [text, number] of good) it(`${text} is ${number}`, () => assert.equal(parseQuantity(text), number));

  const bad = [undefined, '', ' ', 'many', '.', '1.2.3', '1 Gi', '2gi', '2KB', '--1', 'Gi', '9e999', '-1e400Ei'];
  for (const text of bad) {
    it(`${JSON.stringify(text)} is invalid`, () => assert.equal(parseQuantity(text), undefined));
  }

  it('is a finite number or undefined, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+-]?[0-9.]{1,9}[eEkKMGTPi0-9m]{0,4}$/)), (text) => {
        assert.ok(Number.isFinite(parseQuantity(text) ?? 0));
      }),
      { numRuns: 2_000 },
    );
  });
});
