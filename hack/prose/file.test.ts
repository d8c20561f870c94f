import assert from 'node:assert/strict';
import { findingsOf } from './file.ts';

const findings = async (file: string, source: string) =>
  (await findingsOf(file, source)).map(
    ({ line, column, found, suggestion }) => `${line}:${column} ${found} -> ${suggestion}`,
  );

/** In two parts, because this file is linted too. */
const ALLOW = `${'prose'}-allow`;

describe('the findings of a file', () => {
  it('have the place of the word in a page, also where a line ends in it', async () => {
    assert.deepEqual(await findings('docs/a.md', '# A\n\nMade anew, and put\nright.\n'), [
      '3:6 anew -> again, recreate',
      '3:16 put right -> fix, correct',
    ]);
  });

  it('are in headings, tables, lists and link texts', async () => {
    const page = '# Anew\n\n| a | b |\n| - | - |\n| c | anew |\n\n- anew\n  1. [anew](anew.md)\n';
    assert.deepEqual(
      (await findings('a.md', page)).map((finding) => finding.split(' ')[0]),
      ['1:3', '5:7', '7:3', '8:7'],
    );
  });

  it('are not in code, addresses and file names', async () => {
    const page =
      '`anew`, https://example.com/anew, [a](anew.md), test/rights.last.ts\n\n```sh\nanew\n```\n\n    anew\n';
    assert.deepEqual(await findings('a.md', page), []);
  });

  it('are in comments of all sources, and in strings of those that users read', async () => {
    const source = "/** Made anew. */\nf('made anew');\n";
    assert.deepEqual(await findings('cmd/a.ts', source), [
      '1:10 anew -> again, recreate',
      '2:9 anew -> again, recreate',
    ]);
    for (const file of ['hack/a.ts', 'cmd/a.test.ts', 'controllers/windowspool/testing/a.ts'])
      assert.deepEqual(await findings(file, source), ['1:10 anew -> again, recreate'], file);
  });

  it('are in texts and comments of YAML, and in comments of what only becomes YAML', async () => {
    const source = '# Made anew.\nmessage: Made anew\nname: made anew\n';
    assert.deepEqual(await findings('crds/a.yaml', source), [
      '1:8 anew -> again, recreate',
      '2:15 anew -> again, recreate',
    ]);
    assert.deepEqual(await findings('config/charts/a/templates/a.yaml', source), ['1:8 anew -> again, recreate']);
  });

  it('are not allowed words, on the line of the directive and the next', async () => {
    assert.deepEqual(await findings('a.md', `<!-- ${ALLOW} "shall": quoted -->\nIt shall.\n`), []);
    assert.deepEqual(
      await findings('a.ts', `// It\n// ${ALLOW} "shall": quoted; it shall.\n// It shall,\n// shall.\n`),
      ['4:4 shall -> must, or the present tense'],
    );
  });

  it('are there in spite of a directive without a reason or for another word', async () => {
    assert.deepEqual(await findings('a.ts', `// ${ALLOW} "anew":\n// It shall.\n`), [
      '1:17 anew -> again, recreate',
      '2:7 shall -> must, or the present tense',
    ]);
    assert.deepEqual(await findings('a.ts', `// ${ALLOW} "anew": quoted\n// It shall.\n`), [
      '1:4 prose-allow "anew" -> remove: it allows nothing',
      '2:7 shall -> must, or the present tense',
    ]);
  });
});
