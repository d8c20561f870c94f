/** Real nodes end completely, however the program that runs them ends. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isolationObstacle, spawnIsolated } from '../../hack/realnode/isolation.ts';
import type { Started } from './realNodesProgram.ts';

const PROGRAM = fileURLToPath(new URL('realNodesProgram.ts', import.meta.url));
const START_TIMEOUT_MS = 90_000;

/** What real nodes with these folders could leave behind on this machine, where other suites start real nodes at the same time. */
async function traces(folders: readonly string[]): Promise<string[]> {
  const isOurs = (text: string) => folders.some((folder) => text.includes(folder));
  const cgroups = await readdir('/sys/fs/cgroup', { withFileTypes: true });
  const inCgroups = cgroups
    .filter((entry) => entry.isDirectory())
    .map(async ({ name }) => (await readdir(join('/sys/fs/cgroup', name)).catch(() => [])).filter(isOurs));
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    processes.map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')),
  );
  return [
    ...(await readdir(tmpdir())).filter(isOurs),
    ...(await Promise.all(inCgroups)).flat(),
    ...commands.filter(isOurs),
    ...(await readFile('/proc/mounts', 'utf8')).split('\n').filter(isOurs),
    ...Object.keys(networkInterfaces()).filter((name) => /^(node|pods)\d+$/.test(name)),
  ];
}

/** Not every machine allows them. */
const obstacle = await isolationObstacle();
if (obstacle) console.log(`    Real nodes are not tested, because ${obstacle}.`);
else describe('real nodes', realNodes);

function realNodes(this: Mocha.Suite): void {
  this.timeout(180_000);

  async function start(): Promise<Started & { child: ChildProcess }> {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = await spawnIsolated([PROGRAM], { env: process.env, stdio, log: console.log });
    const [started]: Started[] = await Promise.race([
      once(child, 'message', { signal: AbortSignal.timeout(START_TIMEOUT_MS) }),
      once(child, 'exit').then(([code]) => assert.fail(`exited with status ${code}`)),
    ]);
    assert.ok(started);
    return { child, ...started };
  }
  const untilGone = (...folders: readonly string[]) =>
    waitFor(async () => (await traces(folders)).length === 0, {
      what: 'all traces to be gone',
      timeoutMs: 30_000,
      explain: async () => (await traces(folders)).join('\n'),
    });

  it('run side by side, and leave nothing behind when they are stopped and when they are killed', async () => {
    const [stopped, killed] = await Promise.all([start(), start()]);
    for (const { table } of [stopped, killed]) assert.match(table, /^node-1\s+Ready\s.*\scontainerd:/);
    const exit = once(stopped.child, 'exit');
    stopped.child.send('stop');
    assert.deepEqual(await exit, [0, null]);
    killed.child.kill('SIGKILL');
    await untilGone(stopped.folder, killed.folder);
  });
}
