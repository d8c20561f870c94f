import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './alive.ts';
import { Keeper, type ProcessEnd } from './keeper.ts';
import { readLines } from './protocol.ts';
import { waitFor } from './wait.ts';

type Pids = Record<string, number>;

const env = { PATH: process.env.PATH ?? '' };

/** A program that keeps two processes, prepares its end with `ending`, and prints all process IDs. */
function parentProgram(folder: string, ending: string): string {
  return `
    import { Keeper } from ${JSON.stringify(new URL('keeper.ts', import.meta.url).href)};
    import { mkdirSync } from 'node:fs';
    const dir = ${JSON.stringify(join(folder, 'remove'))};
    mkdirSync(dir);
    const keeper = new Keeper({ log: dir + '/supervisor.log', remove: dir, onEnd: () => undefined });
    const sleeper = (name, layer) => ({ name, file: 'sleep', args: ['1000'], env: ${JSON.stringify(env)}, log: dir + '/log', layer });
    await keeper.start(sleeper('lower', 0));
    await keeper.start(sleeper('upper', 1));
    ${ending}
    console.log(JSON.stringify(keeper.pids));`;
}

/** Waits for input from the test, so that the program does not exit before the test has read its line. */
const onCommand = (action: string) => `process.stdin.once('data', () => { ${action} });`;
const forEver = 'setInterval(() => undefined, 1000);';

describe('processes of a keeper', () => {
  let folder: string;
  let parent: ChildProcess | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-keeper-'));
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
    const pids = await new Promise<Pids>((resolve, reject) => {
      readLines(child.stdout, (line) => resolve(JSON.parse(line) as Pids));
      child.once('exit', (code) => reject(new Error(`The program ended with ${code} too early`)));
    });
    assert.deepEqual(Object.keys(pids).sort(), ['guard', 'lower', 'supervisor', 'upper']);
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

  const ends: readonly { way: string; ending: string; act: (parent: ChildProcess, pids: Pids) => void }[] = [
    {
      way: 'calls end',
      ending: onCommand('keeper.end().then(() => process.exit());'),
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
    {
      way: 'has its supervisor killed',
      ending: forEver,
      act: (_, pids) => process.kill(pids.supervisor ?? 0, 'SIGKILL'),
    },
    {
      way: "has its supervisor's process group killed",
      ending: forEver,
      act: (_, pids) => process.kill(-(pids.supervisor ?? 0), 'SIGKILL'),
    },
    { way: 'has its guard killed', ending: forEver, act: (_, pids) => process.kill(pids.guard ?? 0, 'SIGKILL') },
  ];
  for (const { way, ending, act } of ends) {
    it(`exit when their parent ${way}`, async () => {
      const { parent: started, pids } = await startParent(ending);
      act(started, pids);
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
    assert.deepEqual(Object.values(pids).map(isAlive), [true, true, true, true]);
    started.kill('SIGKILL');
    await assertGone(pids);
  });

  describe('with this process as parent', () => {
    const ended: ProcessEnd[] = [];
    let keeper: Keeper;
    beforeEach(async () => {
      ended.length = 0;
      await mkdir(join(folder, 'remove'));
      keeper = new Keeper({ log: join(folder, 'supervisor.log'), remove: '', onEnd: (end) => ended.push(end) });
    });
    afterEach(() => keeper.end());

    const shell = (name: string, layer: number, script: string) => ({
      name,
      layer,
      file: 'sh',
      args: ['-c', script],
      env,
      log: join(folder, `${name}.log`),
    });

    it('are stopped layer by layer, the highest first', async () => {
      // Each waits before it exits, so that the order is not accidental.
      const script = 'trap "sleep 0.1; exit" TERM; echo ready; while :; do sleep 0.05; done';
      for (const [name, layer] of [
        ['bottom', 0],
        ['middle', 1],
        ['top', 2],
      ] as const)
        await keeper.start(shell(name, layer, script));
      const ready = (name: string) => readFileSync(join(folder, `${name}.log`), 'utf8').includes('ready');
      const all = ['bottom', 'middle', 'top'];
      await waitFor(() => all.every(ready), { what: 'all to be ready', timeoutMs: 20_000 });
      await keeper.end();
      assert.deepEqual(
        ended.map(({ name }) => name),
        ['top', 'middle', 'bottom'],
      );
      assert.ok(ended.every(({ asked }) => asked));
    });

    it('are distinguished: one that exits, and one that is stopped', async () => {
      await keeper.start(shell('exits', 0, 'exit 7'));
      await waitFor(() => ended.length === 1, { what: 'the end', timeoutMs: 20_000 });
      const pid = await keeper.start(shell('stopped', 0, 'exec sleep 1000'));
      await keeper.stop('stopped');
      assert.deepEqual(
        ended.map(({ name, how, asked }) => ({ name, how, asked })),
        [
          { name: 'exits', how: 'with status 7', asked: false },
          { name: 'stopped', how: 'by SIGTERM', asked: true },
        ],
      );
      assert.equal(isAlive(pid), false);
    });

    it('have unique names, which can be used again after the exit', async () => {
      const sleeper = shell('one', 0, 'exec sleep 1000');
      await keeper.start(sleeper);
      await assert.rejects(keeper.start(sleeper), /one runs already/);
      await keeper.stop('one');
      await keeper.start(sleeper);
    });

    it('cannot be started after the stop of the keeper', async () => {
      await keeper.end();
      await keeper.end();
      await assert.rejects(keeper.start(shell('late', 0, 'exit')), /The supervisor of the control plane is gone/);
      assert.deepEqual(keeper.pids, {});
    });
  });
});
