import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ByName } from './byName.ts';

describe('a map by name', () => {
  it('has its values in the order of their names after any changes', () => {
    const name = fc.constantFrom('a', 'b', 'ab', 'B', 'node-10', 'node-9', '');
    const change = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), name, value: fc.nat() }),
      fc.record({ kind: fc.constant('delete' as const), name }),
      fc.record({ kind: fc.constantFrom('clear' as const, 'read' as const) }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40, size: 'max' }), (changes) => {
        const [map, model] = [new ByName<number>(), new Map<string, number>()];
        for (const one of changes) {
          if (one.kind === 'set') for (const each of [map, model]) each.set(one.name, one.value);
          else if (one.kind === 'delete') assert.equal(map.delete(one.name), model.delete(one.name));
          else if (one.kind === 'clear') for (const each of [map, model]) each.clear();
          else void map.ordered;
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
        assert.deepEqual(map.ordered, sorted);
        assert.deepEqual([...map], [...model]);
      }),
    );
  });

  it('returns the same list until it changes', () => {
    const map = new ByName<string>().set('b', 'second').set('a', 'first');
    const before = map.ordered;
    assert.equal(map.ordered, before);
    map.set('c', 'third');
    assert.deepEqual(
      [before, map.ordered],
      [
        ['first', 'second'],
        ['first', 'second', 'third'],
      ],
    );
  });
});
