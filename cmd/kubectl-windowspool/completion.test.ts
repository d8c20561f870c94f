import assert from 'node:assert/strict';
import { completions } from './completion.ts';
import { createProgram, runPlugin } from './program.ts';
import type { Terminal } from './terminal.ts';
import { plain } from './text.ts';

function recorded(): Terminal & { readonly lines: string[] } {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  const ask = async () => '';
  return {
    lines,
    isInteractive: false,
    isScreen: false,
    columns: 80,
    paint: plain,
    print,
    printError: print,
    redraw: print,
    ask,
  };
}

const surroundings = () => ({ terminal: recorded(), version: '1.2.3', signal: new AbortController().signal });

describe('the completion of kubectl windowspool', () => {
  const names = async (kind: string) => [`${kind}-a`, `${kind}-b`, 'other'];
  const rows: readonly (readonly [words: string[], expected: string[]])[] = [
    [['sta'], ['status', ':4']],
    [
      ['status', 'pool-'],
      ['pool-a', 'pool-b', ':4'],
    ],
    [
      ['status', '--watch', 'pool-b'],
      ['pool-b', ':4'],
    ],
    [['status', 'pool-a', ''], [':4']],
    [
      ['remove', '--context', 'x', 'node-a'],
      ['node-a', ':4'],
    ],
    [['plan', '--filename', ''], [':0']],
    [['--kubeconfig', ''], [':0']],
    [['lint', 'a.yaml', ''], [':0']],
    [
      ['nodes', '-o', 'y'],
      ['yaml', ':4'],
    ],
    [
      ['nodes', '--out'],
      ['--output', ':4'],
    ],
    [
      ['unknown', ''],
      [
        'status',
        'nodes',
        'plan',
        'replace',
        'remove',
        'retry',
        'pause',
        'resume',
        'doctor',
        'diagnose',
        'lint',
        'completion',
        ':4',
      ],
    ],
  ];
  for (const [words, expected] of rows)
    it(`of ${words.join(' ')}`, async () => {
      const lines = await completions(createProgram(surroundings()), words, names);
      assert.deepEqual(
        lines.map((line) => line.split('\t')[0]),
        expected,
      );
    });
  it('is empty when the names cannot be read', async () => {
    const failing = () => Promise.reject(new Error('unreachable'));
    assert.deepEqual(await completions(createProgram(surroundings()), ['status', ''], failing), [':4']);
  });
});

describe('the command line of kubectl windowspool', () => {
  const rows: readonly (readonly [args: string[], code: number, text: RegExp])[] = [
    [['--version'], 0, /^1\.2\.3$/],
    [['replace', '--help'], 0, /^Usage: kubectl windowspool replace \[options\] <node>$/m],
    [['completion'], 0, /^#!\/bin\/sh$/m],
    [[], 2, /^Usage: kubectl windowspool/],
    [['replace'], 2, /^error: missing required argument 'node'$/],
    [['status', 'a', 'b'], 2, /^error: too many arguments for 'status'/],
    [['plan', '--kubeconfig=/does/not/exist'], 1, /^kubeconfig \/does\/not\/exist: ENOENT/],
  ];
  for (const [args, code, text] of rows)
    it(`${args.join(' ') || 'without arguments'} ends with ${code}`, async () => {
      const context = surroundings();
      assert.equal(await runPlugin(args, context), code);
      assert.match(context.terminal.lines.join('\n'), text);
    });
});
