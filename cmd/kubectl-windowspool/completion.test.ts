import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfig } from '../../controllers/kubernetes/testing/loopbackServer.ts';
import { completions } from './completion.ts';
import { createProgram, nameIn, runPlugin } from './program.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';

const surroundings = () => ({ terminal: recordedTerminal(), version: '1.2.3', signal: new AbortController().signal });

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
      ['logs', '--pool', 'pool-'],
      ['pool-a', 'pool-b', ':4'],
    ],
    [
      ['remove', '--context', 'x', 'node-a'],
      ['node-a', ':4'],
    ],
    [
      ['migrate', 'pool-a', 'pool-'],
      ['pool-a', 'pool-b', ':4'],
    ],
    [['migrate', 'pool-a', 'pool-b', ''], [':4']],
    [
      ['status', '--context', 'context-'],
      ['context-a', 'context-b', ':4'],
    ],
    [
      ['diagnose', '--namespace=namespace-a'],
      ['namespace-a', ':4'],
    ],
    [['status', '--as', ''], [':4']],
    [['plan', '--filename', ''], [':0']],
    [
      ['remove', 'node-a', '--dry-run='],
      ['none', 'server', 'client', ':4'],
    ],
    [
      ['remove', '--dry-run=s'],
      ['server', ':4'],
    ],
    [['--kubeconfig', ''], [':0']],
    [['lint', 'a.yaml', ''], [':0']],
    [['si'], ['size', ':4']],
    [
      ['size', '--mode='],
      ['secondary', 'prefix', ':4'],
    ],
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
        'update',
        'replace',
        'remove',
        'retry',
        'pause',
        'resume',
        'doctor',
        'diagnose',
        'logs',
        'report',
        'migrate',
        'lint',
        'size',
        'version',
        'completion',
        'options',
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

describe('the names of a kubeconfig', () => {
  it('are completed without a cluster', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'completion-'));
    const path = join(folder, 'kubeconfig');
    await writeFile(path, kubeconfig('https://127.0.0.1:1', {}));
    const rows = ['--context', '--cluster', '--user'].map(async (flag) => {
      const context = surroundings();
      await runPlugin(['__complete', 'status', '--kubeconfig', path, flag, ''], context);
      return context.terminal.lines.join(' ').replace(/\n/g, ' ');
    });
    assert.deepEqual(await Promise.all(rows), ['test :4', 'test :4', 'test :4']);
    await rm(folder, { recursive: true });
  });
});

describe('the command line of kubectl windowspool', () => {
  const rows: readonly (readonly [args: string[], code: number, text: RegExp])[] = [
    [['--version'], 0, /^1\.2\.3$/],
    [['replace', '--help'], 0, /^Usage:\n {2}kubectl windowspool replace NODE \[flags\] \[options\]$/m],
    [['completion'], 0, /^#!\/bin\/sh$/m],
    [[], 0, /^Usage:\n {2}kubectl windowspool \[/m],
    [['help'], 0, /^Usage:\n {2}kubectl windowspool \[/m],
    [['help', 'nodes'], 0, /^Usage:\n {2}kubectl windowspool nodes \[POOL\] /m],
    [['options'], 0, /^ {4}--as-group='':$/m],
    [['nodes', '-v=x'], 2, /It must be an integer from 0 to 10\.$/m],
    [['status', '--as-uid=7', '--kubeconfig', ''], 1, /^--as-group and --as-uid require --as\.$/],
    [['replace'], 2, /^error: .*'node'\nSee 'kubectl windowspool replace --help'/],
    [['stauts'], 2, /^error: .*'stauts' \(Did you mean status\?\)\nSee 'kubectl windowspool --help'/],
    [['migrate', 'old'], 2, /^error: missing required argument 'to'/],
    [['status', 'a', 'b'], 2, /^error: too many arguments for 'status'/],
    [['status', '--request-timeout=1000h'], 2, /It must be at most 24h\.$/m],
    [['plan', '--kubeconfig=/does/not/exist'], 2, /^Name either a pool, or a manifest with --filename\.$/],
    [['lint'], 2, /^Name either files, or the cluster with --live\.$/],
    [['lint', 'a.yaml', '--namespace=shop'], 2, /^--namespace requires --live\.$/],
    [['status', '--kubeconfig=/does/not/exist'], 1, /^Cannot read kubeconfig \/does\/not\/exist: no such file/],
  ];
  for (const [args, code, text] of rows)
    it(`${args.join(' ') || 'without arguments'} ends with ${code}`, async () => {
      const context = surroundings();
      assert.equal(await runPlugin(args, context), code);
      assert.match(context.terminal.lines.join('\n'), text);
    });

  const names: readonly (readonly [kind: string, typed: string, name: string])[] = [
    ['pool', 'web', 'web'],
    ['pool', 'windowspool.winpool.dev/web', 'web'],
    ['pool', 'wp/web', 'web'],
    ['node', 'node/ip-10-0-1-1.internal', 'ip-10-0-1-1.internal'],
    ['pod', 'pods/cart-0', 'cart-0'],
    ['pod', 'deployment/cart', 'deployment/cart'],
    ['pod', 'node/cart', 'node/cart'],
  ];
  for (const [kind, typed, name] of names)
    it(`reads ${typed} as the name of a ${kind}`, () => assert.equal(nameIn(kind, typed), name));
});
