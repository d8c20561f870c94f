import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keeper } from './keeper.ts';
import { type Start, Starter } from './starter.ts';

describe('the start of a component', () => {
  let folder: string;
  let keeper: Keeper;
  let starter: Starter;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-starter-'));
    const onEnd: ConstructorParameters<typeof Keeper>[0]['onEnd'] = (end) => starter.noteEnd(end);
    keeper = new Keeper({ log: join(folder, 'supervisor.log'), remove: '', onEnd });
    starter = new Starter(keeper, folder, { PATH: process.env.PATH ?? '' });
  });
  afterEach(async () => {
    await keeper.end();
    await rm(folder, { recursive: true, force: true });
  });

  const portFile = (port: number) => join(folder, `serves-${port}`);
  /** A component that is healthy when it has created the file of its port. `$1` is the port. */
  function component(script: string, more: Partial<Start<string>> = {}): Start<string> {
    return {
      name: 'kwok',
      layer: 0,
      file: 'sh',
      args: (port) => ['-c', `cd '${folder}'; ${script}`, 'sh', `${port}`],
      healthy: async (port) => (existsSync(portFile(port)) ? readFileSync(portFile(port), 'utf8') : undefined),
      timeoutMs: 20_000,
      ...more,
    };
  }
  // Atomically, because the check may read it at any time.
  const serve = 'echo yes > new-$1; mv new-$1 serves-$1; exec sleep 1000';
  const taken = 'echo "listen tcp 127.0.0.1:$1: bind: address already in use"; exit 1';

  it('resolves with the result of the check when the component is healthy', async () => {
    const { result, port } = await starter.start(component(serve));
    assert.equal(result, 'yes\n');
    assert.ok(existsSync(portFile(port)));
  });

  it('uses another port if the first one is in use', async () => {
    const { port } = await starter.start(component(`if [ -e second ]; then ${serve}; fi; echo $1 > second; ${taken}`));
    assert.notEqual(String(port), readFileSync(join(folder, 'second'), 'utf8').trim());
  });

  it('uses only a given port, and fails after five attempts', async () => {
    const tries = () => readFileSync(join(folder, 'tries'), 'utf8').trim().split('\n');
    await assert.rejects(starter.start(component(`echo $1 >> tries; ${taken}`, { port: 20_123 })), {
      message: /^kwok .* 5 times, at last 20123\./,
    });
    assert.deepEqual(tries(), Array(5).fill('20123'));
  });

  it('quotes the log of a component that exited', async () => {
    const exited = starter.start(component('echo "unknown flag: --nonsense" >&2; exit 2'));
    await assert.rejects(exited, ({ message }: Error) => {
      assert.match(message, /^kwok ended with status 2 .*\nunknown flag: --nonsense$/);
      assert.ok(message.includes(`${folder}/kwok.log`));
      return true;
    });
  });

  it('quotes the log of a component that does not become healthy', async () => {
    await assert.rejects(
      starter.start(component('echo "waiting for the moon"; exec sleep 1000', { timeoutMs: 3000 })),
      {
        name: 'DeadlineError',
        message: /^Waited 3 s for kwok .*\n.*\/kwok\.log:\nwaiting for the moon$/,
      },
    );
  });

  it('quotes the shell if the program does not exist', async () => {
    await assert.rejects(starter.start(component('', { file: join(folder, 'nothing') })), /kwok ended with status 127/);
  });

  it('is aborted by the signal', async () => {
    const stop = new AbortController();
    starter = new Starter(keeper, folder, { PATH: process.env.PATH ?? '' }, stop.signal);
    const healthy = async () => {
      stop.abort(new Error('enough'));
      return undefined;
    };
    await assert.rejects(starter.start(component('exec sleep 1000', { healthy })));
  });
});
