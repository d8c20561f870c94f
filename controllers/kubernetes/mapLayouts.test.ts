import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MapLayouts } from './mapLayouts.ts';

describe('map layouts', () => {
  it('create maps of the given entries, regardless of previous maps', () => {
    const layouts = new MapLayouts();
    // Few keys, so that sets and orders repeat. V8 stores a numeric key apart from the others.
    const key = fc.oneof(fc.constantFrom('a', 'b', 'c', 'constructor', '1', '22'), fc.string({ minLength: 1 }));
    const entries = fc.array(
      fc.tuple(
        key.filter((name) => name !== '__proto__'),
        fc.string(),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(entries, (given) => {
        const flat = given.flat();
        const map = layouts.mapOf(flat);
        assert.deepEqual(map, Object.fromEntries(given));
        // A change of one map must not show in the next.
        map.a = 'changed';
        assert.deepEqual(layouts.mapOf(flat), Object.fromEntries(given));
      }),
    );
  });
});
