import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SharedValues } from './sharedValues.ts';

describe('shared values', () => {
  it('are equal to those that were passed in, and one object as long as there are at most 16', () => {
    const item = fc.record({ key: fc.constantFrom('a', 'b'), value: fc.nat({ max: 6 }) }, { noNullPrototype: true });
    const value = fc.array(item, { maxLength: 2 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 80, size: 'max' }), (values) => {
        const shared = new SharedValues<(typeof values)[number]>();
        const seen: { text: string; object: unknown }[] = [];
        for (const one of values) {
          const object = shared.of(structuredClone(one));
          assert.deepEqual(object, one);
          const text = JSON.stringify(one);
          const last = seen.findLastIndex((each) => each.text === text);
          const since = new Set(seen.slice(last + 1).map((each) => each.text));
          if (last >= 0 && since.size < 16) assert.equal(object, seen[last]?.object);
          seen.push({ text, object });
        }
      }),
    );
  });
});
