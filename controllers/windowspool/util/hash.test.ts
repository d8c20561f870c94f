import assert from 'node:assert/strict';
import fc from 'fast-check';
import { canonical, hashOf } from './hash.ts';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  );
}

describe('a hash', () => {
  it('is 16 hex digits and does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.match(hashOf(value), /^[0-9a-f]{16}$/);
        assert.equal(hashOf(shuffled(value)), hashOf(value));
      }),
    );
  });

  it('ignores undefined members, and depends on the order of lists', () => {
    assert.equal(hashOf({ a: 1, b: undefined }), hashOf({ a: 1 }));
    assert.notEqual(hashOf([1, 2]), hashOf([2, 1]));
  });

  it('never changes between versions, because the tags of node groups contain it', () => {
    assert.equal(canonical({ b: [1, { d: null, c: 'x' }], a: true }), '{"a":true,"b":[1,{"c":"x","d":null}]}');
    assert.equal(hashOf({ b: 1, a: 2 }), 'd3626ac30a87e6f7');
  });
});
