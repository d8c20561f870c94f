import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import { runPlugin } from './program.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';

/** The exit code of `kubectl windowspool size` with these arguments, and what it prints. */
async function run(...args: readonly string[]): Promise<readonly [code: number, text: string]> {
  const terminal = recordedTerminal();
  const code = await runPlugin(['size', ...args], { terminal, version: '1.2.3', signal: new AbortController().signal });
  return [code, terminal.lines.join('\n')];
}

describe('kubectl windowspool size', () => {
  it('prints tables that fit the terminal, and where its figures are from', async () => {
    const commands = [
      [
        '--instance-type=m5.large,m5.xlarge',
        '--pods=40',
        '--cpu=500m',
        '--memory=1Gi',
        '--subnet-prefix=/24',
        '--image-size=12Gi',
        '--image-size=30Gi',
      ],
      ['--instance-type=m5.large', '--mode=prefix', '--nodes=2', '--pods=400', '--subnet-prefix=/27'],
      ['--instance-type=t3.medium', '--memory=4Gi', '--reserved-memory=0', '--output=wide'],
    ];
    const outputs = await Promise.all(commands.map((args) => run(...args)));
    assert.deepEqual(
      outputs.map(([code]) => code),
      [0, 0, 0],
    );
    const texts = outputs.map(([, text], index) => `$ kubectl windowspool size ${commands[index]?.join(' ')}\n${text}`);
    await assertGolden('plugin/size', `${texts.join('\n\n---\n\n')}\n`);
  });

  it('prints JSON for scripts', async () => {
    const [code, text] = await run('--instance-type=m5.large', '--instance-type=c5.large', '--pods=20', '-o', 'json');
    assert.equal(code, 0);
    const { types, rootVolume, memory, sources } = JSON.parse(text);
    assert.deepEqual(
      types.map(({ instanceType, podsPerNode, nodes }: Record<string, unknown>) => [instanceType, podsPerNode, nodes]),
      [
        ['m5.large', 9, 3],
        ['c5.large', 9, 3],
      ],
    );
    assert.deepEqual(rootVolume, { leastGiB: 50, imagesGiB: 0, recommendedGiB: 100 });
    assert.deepEqual(memory, { reservedMiB: 2048, evictionMiB: 500 });
    assert.equal(sources.length, 2);
  });

  const errors: readonly [args: readonly string[], names: RegExp][] = [
    [[], /^--instance-type is required\. /],
    [
      ['--instance-type=m5.larg'],
      /^--instance-type "m5\.larg" .*m5\.large\?.*--addresses-per-interface, --vcpus, --instance-memory/,
    ],
    [['--instance-type=m5.large', '--cpu=many'], /^--cpu "many" is invalid\. .*500m/],
    [['--instance-type=m5.large', '--reserved-memory=x'], /^--reserved-memory "x" is invalid\. .*2Gi/],
    [['--instance-type=m5.large', '--mode=ipv6'], /--mode <mode>.*ipv6.*secondary, prefix/],
  ];
  for (const [args, names] of errors)
    it(`fails with ${args.join(' ') || 'no flags'}, and names the flag and the value`, async () => {
      const [code, text] = await run(...args);
      assert.equal(code, 2);
      assert.match(text, names);
    });
});
