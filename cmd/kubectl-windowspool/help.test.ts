import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import { runPlugin } from './program.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';

/** What `kubectl windowspool` prints with these arguments. */
async function printed(...args: readonly string[]): Promise<string> {
  const terminal = recordedTerminal();
  assert.equal(await runPlugin(args, { terminal, version: '1.2.3', signal: new AbortController().signal }), 0);
  return terminal.lines.join('\n');
}

describe('the help of kubectl windowspool', () => {
  it('has the layout of kubectl', async () => {
    const pages = [['--help'], ['status', '--help'], ['replace', '--help'], ['options']] as const;
    const texts = await Promise.all(pages.map((args) => printed(...args)));
    await assertGolden('plugin/help', `${texts.join('\n\n---\n\n')}\n`);
  });
});
