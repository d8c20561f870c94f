import assert from 'node:assert/strict';
import fc from 'fast-check';
import { selects } from './labelSelector.ts';

const keys = ['a', 'b', 'example.com/a', 'constructor', 'toString'];
const values = ['', 'x', 'y', 'X'];
const key = fc.constantFrom(...keys);
const value = fc.constantFrom(...values);
const labels = fc.dictionary(key, value, { noNullPrototype: true });

/** Each operator as documented in the API, on a list of pairs. */
const meaning = {
  In: (found: readonly string[], allowed: readonly string[]) => found.some((each) => allowed.includes(each)),
  NotIn: (found: readonly string[], allowed: readonly string[]) => !found.some((each) => allowed.includes(each)),
  Exists: (found: readonly string[]) => found.length > 0,
  DoesNotExist: (found: readonly string[]) => found.length === 0,
};
const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);

describe('a label selector', () => {
  const cases: readonly (readonly [string, Parameters<typeof selects>[0], Record<string, string>, boolean])[] = [
    ['matches a label with its value', { matchLabels: { a: 'x' } }, { a: 'x', b: 'y' }, true],
    ['is case-sensitive', { matchLabels: { a: 'x' } }, { a: 'X' }, false],
    ['matches an empty value', { matchLabels: { a: '' } }, { a: '' }, true],
    ['does not match a missing label with an empty value', { matchLabels: { a: '' } }, {}, false],
    [
      'requires all terms',
      { matchLabels: { a: 'x' }, matchExpressions: [{ key: 'b', operator: 'Exists' }] },
      { a: 'x' },
      false,
    ],
    [
      'matches NotIn for a missing label',
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] },
      {},
      true,
    ],
    [
      'ignores inherited properties of objects',
      { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] },
      {},
      false,
    ],
  ];
  for (const [what, selector, found, expected] of cases) {
    it(what, () => assert.equal(selects(selector, found), expected));
  }

  it('matches like the API, for any terms and labels', () => {
    fc.assert(
      fc.property(labels, fc.array(requirement, { maxLength: 4 }), labels, (matchLabels, matchExpressions, found) => {
        const pairs = Object.entries(found);
        const of = (labelKey: string) => pairs.filter(([name]) => name === labelKey).map(([, text]) => text);
        const expected =
          Object.entries(matchLabels).every(([name, text]) => of(name).includes(text)) &&
          matchExpressions.every((term) => meaning[term.operator](of(term.key), 'values' in term ? term.values : []));
        assert.equal(selects({ matchLabels, matchExpressions }, found), expected);
      }),
      { numRuns: 2_000 },
    );
  });
});
