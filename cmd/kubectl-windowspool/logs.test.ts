import assert from 'node:assert/strict';
import { isAbout, linesOf, logsCommand } from './logs.ts';
import { FakeApi } from './testing/fakeApi.ts';
import { operatorIn } from './testing/operatorObjects.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';

/** What the command prints; each pod has a log of one line. */
async function printed(api: FakeApi, flags: object = {}): Promise<string[]> {
  const terminal = recordedTerminal();
  const asked: string[] = [];
  api.intercept = (_, path) => {
    const [, pod = ''] = /pods\/([^/]+)\/log$/.exec(path) ?? [];
    if (pod === '') return undefined;
    asked.push(pod);
    return { status: 200, body: { level: 'info', key: pod.endsWith('a') ? 'web' : 'billing', msg: pod } };
  };
  await using served = await api.serve();
  const { cluster } = served;
  const context = { terminal, version: '1', signal: cluster.signal, connect: async () => cluster };
  await logsCommand.run(context, [], { requestTimeout: 1_000, ...flags });
  return terminal.lines;
}

/** The lines of these bytes. */
async function collected(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(chunks)) lines.push(line);
  return lines;
}

const LINE_A = '{"level":"info","key":"web","msg":"operator-a"}';
const LINE_B = '{"level":"info","key":"billing","msg":"operator-b"}';

describe('kubectl windowspool logs', () => {
  const rows: readonly (readonly [what: string, holder: string | undefined, flags: object, lines: string[]])[] = [
    ['of the leader', 'operator-b_0a1b2c3d', {}, [LINE_B]],
    ['of all replicas without a leader', undefined, {}, [`[pod/operator-a] ${LINE_A}`, `[pod/operator-b] ${LINE_B}`]],
    ['of all replicas whose leader is gone', 'operator-c_0a1b2c3d', { pool: 'web' }, [`[pod/operator-a] ${LINE_A}`]],
    ['of a pool', 'operator-a_0a1b2c3d', { pool: 'billing' }, []],
    [
      'of all replicas',
      'operator-a_0a1b2c3d',
      { allPods: true, follow: true, pool: 'billing' },
      [`[pod/operator-b] ${LINE_B}`],
    ],
  ];
  for (const [what, holder, flags, lines] of rows)
    it(`prints those ${what}`, async () => assert.deepEqual(await printed(operatorIn(holder), flags), lines));

  it('says what to do without an operator, and without pods', async () => {
    await assert.rejects(printed(new FakeApi()), /^Failure: No Deployment has the label .* --operator-namespace\.$/);
    const api = operatorIn(undefined);
    api.objects.delete('pods');
    await assert.rejects(printed(api), /^Failure: The operator has no pods in namespace ops\. .* doctor$/);
  });

  it('reads lines whose bytes arrive in pieces, and never keeps a whole huge one', async () => {
    const bytes = Buffer.from('one\nzwölf\n\nlast');
    const pieces = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    };
    assert.deepEqual(await collected(pieces()), ['one', 'zwölf', '', 'last']);
    const huge = async function* () {
      for (let piece = 0; piece < 5; piece++) yield Buffer.alloc(200_000, 'x');
    };
    assert.deepEqual(
      (await collected(huge())).map((line) => line.length),
      [400_000, 400_000, 200_000],
    );
  });

  const about: readonly (readonly [line: string, isAbout: boolean])[] = [
    ['{"key":"web"}', true],
    ['{"pool":"web"}', true],
    ['{"key":"web-2","msg":"web"}', false],
    ['{"key":"billing","msg":"like \\"web\\""}', false],
    ['panic: "web"', false],
    ['"web"', false],
  ];
  for (const [line, expected] of about)
    it(`${expected ? 'finds' : 'leaves out'} ${line}`, () => assert.equal(isAbout(line, 'web'), expected));
});
