import assert from 'node:assert/strict';
import { samplePool } from '../../controllers/windowspool/testing/fixtures.ts';
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

interface Answer {
  readonly status: number;
  readonly body: object | string;
}

/** What the API server says about a container that has never started. */
const waiting = (pod: string): object => ({
  kind: 'Status',
  status: 'Failure',
  reason: 'BadRequest',
  code: 400,
  message: `container "operator" in pod "${pod}" is waiting to start: ImagePullBackOff`,
});

/** What the command prints if none leads and the pods answer so; `?previous`: about the previous container. Others have none. */
async function printedOf(answers: Readonly<Record<string, Answer>>): Promise<string[]> {
  const terminal = recordedTerminal();
  const api = operatorIn(undefined);
  api.intercept = (_, path, { previous }) => {
    const [, pod] = /pods\/([^/]+)\/log$/.exec(path) ?? [];
    if (pod === undefined) return undefined;
    return answers[`${pod}${previous === 'true' ? '?previous' : ''}`] ?? { status: 400, body: waiting(pod) };
  };
  await using served = await api.serve();
  const { cluster } = served;
  const context = { terminal, version: '1', signal: cluster.signal, connect: async () => cluster };
  await logsCommand.run(context, [], { requestTimeout: 1_000 });
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
    it(`prints those ${what}`, async () => {
      const api = operatorIn(holder);
      api.pools = ['web', 'billing'].map((name) => samplePool({}, { metadata: { name } }));
      assert.deepEqual(await printed(api, flags), lines);
    });

  it('prints a note about a replica that cannot start, and the logs of the others', async () => {
    assert.deepEqual(
      await printedOf({
        'operator-a': { status: 400, body: waiting('operator-a') },
        'operator-b': { status: 200, body: 'b\n' },
      }),
      [
        'Pod operator-a has no log: container "operator" in pod "operator-a" is waiting to start: ImagePullBackOff.',
        '[pod/operator-b] b',
      ],
    );
  });

  it('prints the log of the previous container of a replica whose next one does not start', async () => {
    assert.deepEqual(
      await printedOf({
        'operator-a': { status: 400, body: waiting('operator-a') },
        'operator-a?previous': { status: 200, body: 'fatal\n' },
        'operator-b': { status: 200, body: 'b\n' },
      }),
      ['[pod/operator-a] fatal', '[pod/operator-b] b'],
    );
  });

  it('fails if no replica has a log', async () => {
    const none = { status: 400, body: waiting('operator') };
    await assert.rejects(printedOf({ 'operator-a': none, 'operator-b': none }), /^Failure: No replica .* doctor$/);
  });

  it('says that a pool does not exist, unless the log has lines about it', async () => {
    const api = operatorIn('operator-a_0a1b2c3d');
    api.pools = [samplePool({}, { metadata: { name: 'billing' } })];
    await assert.rejects(
      printed(api, { pool: 'nope' }),
      /^Failure: WindowsPool "nope" not found\. The pools are: billing/,
    );
    assert.deepEqual(await printed(api, { pool: 'web' }), [LINE_A]);
    assert.deepEqual(await printed(api, { pool: 'billing' }), []);
    const [note = ''] = await printed(api, { pool: 'nope', follow: true });
    assert.match(note, /^WindowsPool "nope" not found/);
    api.denied.add('windowspools');
    assert.deepEqual(await printed(api, { pool: 'nope' }), []);
  });

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
