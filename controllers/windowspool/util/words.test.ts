import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compact, count, joined, sentence, shellWord } from './words.ts';

describe('messages', () => {
  it('have counts with singular and plural', () => {
    assert.deepEqual([count(0, 'node'), count(1, 'node'), count(2, 'node')], ['0 nodes', '1 node', '2 nodes']);
  });

  const lists: readonly (readonly [readonly string[], string])[] = [
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c'], 'a, b and c'],
    [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d and e'],
    [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e and 2 more'],
  ];
  for (const [names, want] of lists) it(`join ${names.length} names`, () => assert.equal(joined(names), want));

  it('join a limited number of names', () => assert.equal(joined(['a', 'b', 'c'], 1), 'a and 2 more'));

  it('have commands whose arguments are one word, whatever they contain', () => {
    const plain = 'arn:aws:iam::111122223333:role/windows-nodes';
    assert.deepEqual([plain, 'a$(b)', "a'b;c", ''].map(shellWord), [plain, "'a$(b)'", "'a'\\''b;c'", "''"]);
  });

  it('leave out what does not apply', () => assert.deepEqual(compact(['a', false, undefined, '', 'b']), ['a', 'b']));

  it('end a sentence with exactly one full stop, idempotently', () => {
    const texts = fc.tuple(fc.string(), fc.constantFrom('', '.', '..', '!', '. ', ' .')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const once = sentence(text);
        assert.match(once, /(^|[^.!])\.$/s);
        assert.equal(sentence(once), once);
      }),
    );
  });
});
