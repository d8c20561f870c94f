/**
 * Runs a program in network, mount and process namespaces of its own: the interfaces, rules, mounts and processes that it leaves behind go with them, also
 * when it is killed.
 *
 *     this process ──▶ unshare ──▶ tini (process 1) ──▶ the program ──▶ containerd, kubelet, pods, ...
 *          └──pipe──▶ guard.sh
 *
 * When this process exits in any way, the kernel kills unshare, then process 1, and then everything in the namespaces, which holds the pipe open. When the last
 * of it is gone, the guard removes their folder and their cgroups, the only things that are in no namespace.
 */
import { type ChildProcess, type IOType, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../controlplane/command.ts';
import { ensurePackages, NODE_PACKAGES } from './distribution.ts';
import { ensureNodePrograms } from './programs.ts';

/** The address of the API server and of other servers that pods call, in the namespaces. */
export const HOST_ADDRESS = '172.31.255.1';

/** The variable with the name of the cgroup that holds those of all pods. */
const CGROUP = 'WINDOWSPOOL_CGROUP';
const ENTER = fileURLToPath(new URL('enter.sh', import.meta.url));
const GUARD = fileURLToPath(new URL('../controlplane/guard.sh', import.meta.url));
const NAMESPACES = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
const TRY_TIMEOUT_MS = 30_000;

/** The name of the cgroup that holds those of all pods, or undefined if this process is not in namespaces of its own. */
export function podsCgroup(): string | undefined {
  return process.env[CGROUP];
}

/** Whether this process runs in such namespaces. */
export const isInside = (): boolean => podsCgroup() !== undefined;

/** Why this machine cannot have such namespaces; undefined if it can. */
export async function isolationObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `a real node needs Linux, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'a real node needs root';
  const [program = '', ...args] = [...NAMESPACES, 'true'];
  const outcome = await runCommand(program, args, { timeoutMs: TRY_TIMEOUT_MS }).catch((error: Error) => error.message);
  if (typeof outcome === 'string') return outcome;
  return outcome.code === 0 ? undefined : `unshare: ${outcome.stderr.trim()}`;
}

/**
 * Starts Node.js with `args` in namespaces of its own, with a temporary folder there, after installing what real nodes need: nothing can be downloaded there. The child is unshare: its
 * exit status is that of the program, and SIGKILL ends everything. `stdio` is as in `spawn`.
 */
export async function spawnIsolated(
  args: readonly string[],
  {
    env,
    stdio,
    log,
  }: {
    readonly env: NodeJS.ProcessEnv;
    readonly stdio: readonly (IOType | 'ipc')[];
    readonly log: (line: string) => void;
  },
): Promise<ChildProcess> {
  const obstacle = await isolationObstacle();
  if (obstacle) throw new Error(`The machine does not allow a real node: ${obstacle}.`);
  await ensurePackages(NODE_PACKAGES, log);
  await ensureNodePrograms(log);
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-node-'));
  const cgroup = basename(folder);
  const guard = spawn('/bin/sh', [GUARD, folder, cgroup], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  guard.unref();
  const command = [
    '--pdeathsig',
    'KILL',
    '--',
    ...NAMESPACES,
    'tini',
    '--',
    '/bin/sh',
    ENTER,
    process.execPath,
    ...args,
  ];
  const child = spawn('setpriv', command, {
    env: { ...env, TMPDIR: folder, [CGROUP]: cgroup },
    stdio: [...stdio, guard.stdin],
  });
  // Only the namespaces hold the pipe open.
  guard.stdin.destroy();
  return child;
}
