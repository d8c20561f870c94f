import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { reasons } from '../../controllers/windowspool/api/reasons.ts';
import { KNOWN_ERRORS } from '../../controllers/windowspool/knownErrors/catalogue.ts';
import { randomObservedState } from '../../controllers/windowspool/testing/randomObservedState.ts';
import { reportOf } from './poolReport.ts';
import { COMMANDS, createProgram, parse } from './program.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';
import { reported } from './testing/situations.ts';
import { updateOf } from './update.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The command lines of the plugin in a text, each up to the end of its line, of its sentence or of its code. */
function commandLinesIn(text: string): string[] {
  // A sentence may continue in the next line, below its first word.
  const unwrapped = text.replace(/^(?!.*\$ kubectl)(.*kubectl windowspool.*)\n +(?=[a-z])/gm, '$1 ');
  const found = unwrapped.matchAll(/kubectl windowspool ([a-z_-]+(?: [^\n`]*)?)/g);
  return [...found].map(([, line = '']) =>
    line
      .replace(' [flags] [options]', '')
      .replace(/[.:;,)]*(?: [|>&].*|[.,;)] .*)?$/s, '')
      .trim(),
  );
}

/** The code in a page: blocks, and spans with an argument. Sentences and other spans only name a command. */
function codeIn(page: string): string {
  return [...page.matchAll(/```[^\n]*\n.*?```|`[^`\n]+ windowspool [a-z]+ [^-][^`\n]*`/gs)]
    .map(([code]) => code)
    .join('\n');
}

/** A golden without line breaks. */
const ONE_LINE = 'terminal-drain-blocked.txt';

const read = (pattern: string) =>
  globSync(`${ROOT}${pattern}`)
    .filter((path) => !path.endsWith(ONE_LINE))
    .map((path) => readFileSync(path, 'utf8'));

/** Why the plugin rejects a command line; empty: it accepts it. Runs nothing. */
async function rejectionOf(line: string): Promise<string> {
  const terminal = recordedTerminal();
  const surroundings = { terminal, version: '1', signal: new AbortController().signal };
  const program = createProgram(surroundings, async () => undefined);
  return parse(program, line.split(/ +/)).then(
    () => '',
    (error: Error) => (error.message.includes('outputHelp') ? '' : `${error.message} ${terminal.lines.join(' ')}`),
  );
}

const SOURCES: Readonly<Record<string, readonly string[]>> = {
  'the goldens of the plugin': read('test/golden/plugin/*.txt'),
  'the other goldens': read('test/golden/{,texts/**/}*.{txt,md}'),
  'the documentation': read('{docs/**/*,README,CONTRIBUTING}.md').map(codeIn),
  'the catalogues': [JSON.stringify(reasons), JSON.stringify(KNOWN_ERRORS)].map((text) => text.replaceAll('\\n', '\n')),
  'the examples': COMMANDS.flatMap(({ examples }) => examples.map(([, line]) => line)),
};

describe('the commands that texts recommend', () => {
  for (const [source, texts] of Object.entries(SOURCES))
    it(`are accepted by the plugin: those in ${source}`, async () => {
      const lines = [...new Set(texts.flatMap(commandLinesIn))];
      const rejected: string[] = [];
      for (const line of lines) {
        const rejection = await rejectionOf(line);
        if (rejection !== '') rejected.push(`${line}: ${rejection}`);
      }
      assert.deepEqual(rejected, []);
    });

  it('are accepted by the plugin: the next command of any pool', async () => {
    await fc.assert(
      fc.asyncProperty(randomObservedState, async (s) => {
        const { nextCommand = '' } = reportOf(reported(s));
        for (const line of commandLinesIn(nextCommand)) {
          assert.equal(await rejectionOf(line), '', line);
          const [, release] = /^update .* --release (\S+)$/.exec(line) ?? [];
          if (release !== undefined) assert.ok(updateOf(reported(s), release).patch, line);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('are found in texts', () => {
    const text = [
      '  $ kubectl windowspool status web',
      'Follow it: kubectl windowspool status web --watch. Or not.',
      '`kubectl windowspool nodes`, (kubectl windowspool retry web)',
      'x | kubectl windowspool lint - | less',
    ].join('\n');
    assert.deepEqual(commandLinesIn(text), ['status web', 'status web --watch', 'nodes', 'retry web', 'lint -']);
  });

  it('are rejected with a wrong command, flag, or number of arguments', async () => {
    for (const line of ['stauts', 'status --wach', 'status a b', 'replace', 'lint --cluster'])
      assert.notEqual(await rejectionOf(line), '', line);
  });
});
