import assert from 'node:assert/strict';
import type { Block } from './block.ts';
import { commentsOf, textsOf } from './yaml.ts';

const shown = (blocks: readonly Block[]) =>
  blocks.map((block) => block.map(({ text, line, column }) => `${line}:${column} ${text}`).join('\n'));

describe('the prose of a YAML or JSON file', () => {
  it('is in comments, of which those on neighbouring lines are one text', () => {
    const source = '# One\n# two.\na: b # Three.\n\nc: "#d"\n  # Four.\n{{- if .e }} # Five.\n';
    assert.deepEqual(shown(commentsOf(source)), ['1:3 One\n2:3 two.\n3:8 Three.', '6:5 Four.\n7:16 Five.']);
  });

  it('is in descriptions, messages, summaries and titles', () => {
    const source = 'title: One two\nrules:\n  - {rule: no text, message: \'Three four\'}\n  - summary: "Five"\n';
    assert.deepEqual(shown(textsOf(source)), ['1:8 One two', "3:31 Three four'", '4:15 Five"']);
  });

  it('is in block scalars, without their header', () => {
    assert.deepEqual(shown(textsOf('a:\n  description: >-\n    One\n    two.\n  type: string\n')), [
      '3:5 One\n4:5 two.\n5:1 ',
    ]);
  });

  it('is not in a property that has such a name', () => {
    assert.deepEqual(shown(textsOf('{"message": {"type": "string", "description": "One."}}')), ['1:48 One."']);
  });

  it('is in every document of a file', () => {
    assert.deepEqual(shown(textsOf('title: One\n---\ntitle: Two\n')), ['1:8 One', '3:8 Two']);
  });
});
