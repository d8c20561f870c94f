import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { proseOfTypeScript, tokensOf } from './typescript.ts';

const texts = (source: string, strings = true) =>
  proseOfTypeScript(source, strings).map((block) =>
    block.map(({ text, line, column }) => `${line}:${column} ${text}`).join('\n'),
  );

describe('the prose of a TypeScript file', () => {
  it('is in doc comments, without the asterisks', () => {
    assert.deepEqual(texts('/** One. */\n  /**\n   * Two\n   *   - three\n   */\n'), [
      '1:5 One.',
      '2:6 \n3:6 Two\n4:6   - three\n5:4 ',
    ]);
  });

  it('is in line comments, of which those below one another are one text', () => {
    assert.deepEqual(texts('// One\n// two.\n\nf(); // Three.\n// Four.\n'), [
      '1:4 One\n2:4 two.',
      '4:9 Three.',
      '5:4 Four.',
    ]);
  });

  it('is in strings that have a space, with escape sequences as spaces', () => {
    assert.deepEqual(texts(`f('name', 'it\\'s a\\ttext', "two words")`), ["1:12 it 's a  text", '1:29 two words']);
  });

  it('is in templates, around their substitutions', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the input.
    const source = 'f(`one two ${g({ a: `three four ${h}` })} five\n  six`, `7 ${i} eight nine`)';
    assert.deepEqual(texts(source), ['1:4 one two', '1:22 three four', '1:43 five\n2:3 six', '2:17 eight nine']);
  });

  it('is in no string unless that is asked for', () => {
    assert.deepEqual(texts("f('two words') // Comment.", false), ['1:19 Comment.']);
  });

  it('is not in regular expressions, which may have quotes and slashes in them', () => {
    assert.deepEqual(texts("const a = /'\\/[/]/g; const b = c.delete / d; f('one two', (e) / 2) // Three."), [
      '1:49 one two',
      '1:71 Three.',
    ]);
  });

  it('is found by tokens that together are the file', () => {
    const source = readFileSync(new URL('typescript.ts', import.meta.url), 'utf8');
    assert.equal([...tokensOf(source)].map(({ text }) => text).join(''), source);
  });
});
