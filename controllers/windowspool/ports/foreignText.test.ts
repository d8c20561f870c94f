import assert from 'node:assert/strict';
import fc from 'fast-check';
import { foreignMessage, foreignText } from './foreignText.ts';

const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 600 }), fc.string({ unit: 'grapheme' }));

describe('text from outside', () => {
  it('is unchanged if it is short and printable', () => {
    for (const text of ['', '10.0.20348.2762', 'Grüße, 世界 🪟', 'a  b', 'x'.repeat(256)])
      assert.equal(foreignText(text), text);
  });

  const cases: readonly [what: string, text: string, shown: string][] = [
    ['an escape sequence of a terminal', 'a\u001b[31mb\u001b[0m', 'a\uFFFD[31mb\uFFFD[0m'],
    ['line breaks and tabs', 'a\r\nb\tc\u2028d', 'a  b c d'],
    ['characters that change the direction of text', 'a\u202egnp\u2066b', 'a\uFFFDgnp\uFFFDb'],
    ['invisible characters', 'web\u200b\ufeff', 'web\uFFFD\uFFFD'],
    ['half a character, where it is cut', `${'a'.repeat(254)}🪟🪟`, `${'a'.repeat(254)}\uFFFD…`],
  ];
  for (const [what, text, shown] of cases) it(`is cleaned of ${what}`, () => assert.equal(foreignText(text), shown));

  it('has at most 256 characters, and a message 1,024', () => {
    assert.equal(foreignText('x'.repeat(257)), `${'x'.repeat(255)}…`);
    assert.equal(foreignMessage('x'.repeat(1_025)), `${'x'.repeat(1_023)}…`);
  });

  it('does not change when it is read again, as the operator reads its own conditions', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        assert.equal(foreignText(foreignText(text)), foreignText(text));
        assert.equal(foreignMessage(foreignMessage(text)), foreignMessage(text));
      }),
    );
  });

  it('never has a control character', () => {
    fc.assert(fc.property(anyText, (text) => assert.doesNotMatch(foreignText(text), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)));
  });
});
