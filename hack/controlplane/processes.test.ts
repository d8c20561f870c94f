import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './alive.ts';
import { Processes, type ProcessSpec } from './processes.ts';
import { waitFor } from './wait.ts';

type Pids = Record<string, number>;

const env = { PATH: process.env.PATH ?? '' };

/** A program that runs two processes, prepares its end with `ending`, and prints all process IDs. */
function parentProgram(folder: string, ending: string): string {
  return `
    import { Processes } from ${JSON.stringify(new URL('processes.ts', import.meta.url).href)};
    import { mkdirSync } from 'node:fs';
    const dir = ${JSON.stringify(join(folder, 'remove'))};
    mkdirSync(dir);
    const processes = new Processes({ logDir: dir, remove: dir, env: ${JSON.stringify(env)}, log: () => undefined });
    const sleeper = (name, layer) =>
      ({ name, layer, file: 'sleep', args: () => ['1000'], healthy: async () => true, timeoutMs: 20_000 });
    await processes.start(sleeper('lower', 0));
    await processes.start(sleeper('upper', 1));
    ${ending}
    console.log(JSON.stringify(processes.pids));`;
}

/** Waits for input from the test, so that the program does not exit before the test has read its line. */
const onCommand = (action: string) => `process.stdin.once('data', () => { ${action} });`;
const forEver = 'setInterval(() => undefined, 1000);';

describe('processes', () => {
  let folder: string;
  let parent: ChildProcess | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-processes-'));
  });
  afterEach(async () => {
    if (parent?.exitCode === null) parent.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  async function startParent(ending: string): Promise<{ parent: ChildProcess; pids: Pids }> {
    // In its own process group, so that a test can signal the whole group, like a terminal.
    const child = spawn(process.execPath, ['--input-type=module', '--eval', parentProgram(folder, ending)], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    parent = child;
    const [line] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => assert.fail(`The program exited with ${code} too early`)),
    ]);
    const pids = JSON.parse(line) as Pids;
    assert.deepEqual(Object.keys(pids).sort(), ['guard', 'lower', 'upper']);
    return { parent: child, pids };
  }

  async function assertGone(pids: Pids): Promise<void> {
    const left = () => Object.entries(pids).filter(([, pid]) => isAlive(pid));
    const what = 'every process to be gone';
    await waitFor(() => left().length === 0, {
      what,
      timeoutMs: 20_000,
      explain: () => `Left: ${JSON.stringify(left())}`,
    });
    await waitFor(() => !existsSync(join(folder, 'remove')), { what: 'the folder to be removed', timeoutMs: 20_000 });
  }

  const ends: readonly { way: string; ending: string; act: (parent: ChildProcess) => void }[] = [
    {
      way: 'calls end',
      ending: onCommand('processes.end().then(() => process.exit());'),
      act: (one) => one.stdin?.end('go'),
    },
    { way: 'calls process.exit', ending: onCommand('process.exit(0)'), act: (one) => one.stdin?.end('go') },
    { way: 'has nothing left to do', ending: onCommand(''), act: (one) => one.stdin?.end('go') },
    { way: 'throws', ending: onCommand('throw new Error()'), act: (one) => one.stdin?.end('go') },
    { way: 'gets Ctrl-C', ending: forEver, act: (one) => process.kill(-(one.pid ?? 0), 'SIGINT') },
    { way: 'gets SIGTERM', ending: forEver, act: (one) => one.kill('SIGTERM') },
    { way: 'loses its terminal', ending: forEver, act: (one) => process.kill(-(one.pid ?? 0), 'SIGHUP') },
    { way: 'gets SIGKILL', ending: forEver, act: (one) => one.kill('SIGKILL') },
    {
      way: 'gets SIGKILL with its whole process group',
      ending: forEver,
      act: (one) => process.kill(-(one.pid ?? 0), 'SIGKILL'),
    },
  ];
  for (const { way, ending, act } of ends) {
    it(`exit when their parent ${way}`, async () => {
      const { parent: started, pids } = await startParent(ending);
      act(started);
      await assertGone(pids);
    });
  }

  it('do not share the process group of their parent, so Ctrl-C in a terminal does not reach them', async () => {
    const { parent: started, pids } = await startParent(
      `process.on('SIGINT', () => console.log('{}')); process.stdin.resume(); ${forEver}`,
    );
    const output = once(started.stdout ?? assert.fail('no output'), 'data');
    process.kill(-(started.pid ?? 0), 'SIGINT');
    await output;
    assert.deepEqual(Object.values(pids).map(isAlive), [true, true, true]);
    started.kill('SIGKILL');
    await assertGone(pids);
  });

  describe('of this process', () => {
    let processes: Processes;
    const lines: string[] = [];
    const start = (signal?: AbortSignal) =>
      new Processes({ logDir: folder, remove: folder, env, log: (line) => lines.push(line), signal });
    beforeEach(() => {
      lines.length = 0;
      processes = start();
    });
    afterEach(() => processes.end());

    const portFile = (port: number) => join(folder, `serves-${port}`);
    /** It is healthy when it has created the file of its port. `$1` is the port. */
    function spec(name: string, script: string, more: Partial<ProcessSpec<string>> = {}): ProcessSpec<string> {
      return {
        name,
        layer: 0,
        file: 'sh',
        args: (port) => ['-c', `cd '${folder}'; ${script}`, 'sh', `${port}`],
        healthy: async (port) => (existsSync(portFile(port)) ? readFileSync(portFile(port), 'utf8') : undefined),
        timeoutMs: 20_000,
        ...more,
      };
    }
    // Atomically, because the check may read it at any time.
    const ready = 'echo yes > new-$1; mv new-$1 serves-$1;';
    const serve = `${ready} exec sleep 1000`;
    const taken = 'echo "listen tcp 127.0.0.1:$1: bind: address already in use"; exit 1';

    it('are started with the result of the check when they are healthy', async () => {
      const { result, port } = await processes.start(spec('kwok', serve));
      assert.equal(result, 'yes\n');
      assert.ok(existsSync(portFile(port)));
    });

    it('use another port if the first one is in use', async () => {
      const script = `if [ -e second ]; then ${serve}; fi; echo $1 > second; ${taken}`;
      const { port } = await processes.start(spec('kwok', script));
      assert.notEqual(String(port), readFileSync(join(folder, 'second'), 'utf8').trim());
    });

    it('use only a given port, and fail after five attempts', async () => {
      const tries = () => readFileSync(join(folder, 'tries'), 'utf8').trim().split('\n');
      await assert.rejects(processes.start(spec('kwok', `echo $1 >> tries; ${taken}`, { port: 20_123 })), {
        message: /^kwok .* 5 times, at last 20123\./,
      });
      assert.deepEqual(tries(), Array(5).fill('20123'));
    });

    it('that exit before they are healthy are errors that quote their log', async () => {
      const exited = processes.start(spec('kwok', 'echo "unknown flag: --nonsense" >&2; exit 2'));
      await assert.rejects(exited, ({ message }: Error) => {
        assert.match(message, /^kwok exited with status 2 .*\nunknown flag: --nonsense$/);
        assert.ok(message.includes(`${folder}/kwok.log`));
        return true;
      });
      await assert.rejects(processes.start(spec('kwok', '', { file: join(folder, 'nothing') })), /with status 127/);
    });

    it('that do not become healthy are errors that quote their log', async () => {
      const script = 'echo "waiting for the moon"; exec sleep 1000';
      await assert.rejects(processes.start(spec('kwok', script, { timeoutMs: 3000 })), {
        name: 'DeadlineError',
        message: /^Waited 3 s for kwok .*\n.*\/kwok\.log:\nwaiting for the moon$/,
      });
    });

    it('are no longer waited for when the signal aborts', async () => {
      await processes.end();
      folder = await mkdtemp(join(tmpdir(), 'windowspool-processes-'));
      const stop = new AbortController();
      processes = start(stop.signal);
      const healthy = async () => {
        stop.abort(new Error('enough'));
        return undefined;
      };
      await assert.rejects(processes.start(spec('kwok', 'exec sleep 1000', { healthy })));
    });

    it('are stopped layer by layer, the highest first', async () => {
      const script = (name: string) =>
        `trap "sleep 0.1; echo ${name} >> '${folder}.order'; exit" TERM; ${ready} while :; do sleep 0.05; done`;
      try {
        for (const [layer, name] of ['bottom', 'middle', 'top'].entries())
          await processes.start(spec(name, script(name), { layer }));
        await processes.end();
        assert.equal(readFileSync(`${folder}.order`, 'utf8'), 'top\nmiddle\nbottom\n');
      } finally {
        await rm(`${folder}.order`, { force: true });
      }
    });

    it('that exit are logged, but not those that are stopped', async () => {
      await processes.start(spec('exits', `${ready} sleep 0.1; echo the end; exit 7`));
      await waitFor(() => lines.length === 1, { what: 'the exit', timeoutMs: 20_000 });
      await processes.start(spec('stopped', serve));
      await processes.stop('stopped');
      assert.deepEqual(lines, ['exits exited with status 7. The end of its log:\nthe end']);
      assert.deepEqual(Object.keys(processes.pids), ['guard']);
    });

    it('have unique names, which can be used again after the exit', async () => {
      await processes.start(spec('one', serve));
      await assert.rejects(processes.start(spec('one', serve)), /one already runs/);
      await processes.stop('one');
      await processes.start(spec('one', serve));
    });

    it('cannot be started after the end', async () => {
      await processes.end();
      await processes.end();
      await assert.rejects(processes.start(spec('late', 'exit')), /late cannot start/);
    });
  });
});
