import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../../test/docs/markdown.ts';
import { EXIT } from './failure.ts';
import { createProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/reference/plugin.md`, 'utf8');

describe('docs/reference/plugin.md', () => {
  const goldens = globSync(`${ROOT}test/golden/plugin/*.txt`).map((path) => readFileSync(path, 'utf8'));
  for (const { info, text } of blocksOf(page)) {
    const [command = '', ...output] = text.trimEnd().split('\n');
    if (info === '')
      it(`shows the real output of ${command}`, () => {
        assert.match(command, /^\$ kubectl windowspool /);
        assert.ok(
          goldens.some((golden) => golden.includes(output.join('\n'))),
          text,
        );
      });
  }

  it('lists all commands', () => {
    const { commands } = createProgram({
      terminal: processTerminal(),
      version: '1',
      signal: new AbortController().signal,
    });
    const missing = commands
      .map((command) => command.name())
      .filter((name) => !new RegExp(`\`${name}[ \`]`).test(page));
    assert.deepEqual(missing, []);
  });

  it('lists all exit codes', () => {
    const listed = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    assert.deepEqual(listed, Object.values(EXIT));
  });
});
