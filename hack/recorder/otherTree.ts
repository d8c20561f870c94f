/** Another version of the project in a temporary folder. */
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';

const RECORDER = 'hack/recorder';
const INSTALL_MS = 10 * 60_000;
const GIT_MS = 60_000;

/**
 * Runs work on the files of a commit, in a git worktree that is removed afterwards. `overlay` names files and folders that it gets from this version.
 * A commit without a recorder gets this one.
 */
export async function withTree<T>(
  root: string,
  commit: string,
  overlay: readonly string[],
  signal: AbortSignal,
  work: (tree: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'recorder-'));
  const tree = join(folder, 'tree');
  try {
    await run(root, 'git', ['worktree', 'add', '--detach', tree, commit], GIT_MS, signal);
    await install(root, tree, signal);
    const copied = existsSync(join(tree, RECORDER)) ? overlay : [...overlay, RECORDER];
    for (const path of copied) await cp(join(root, path), join(tree, path), { recursive: true });
    return await work(tree);
  } finally {
    // Fails if it was not added.
    await runCommand('git', ['worktree', 'remove', '--force', tree], { cwd: root, timeoutMs: GIT_MS });
    await rm(folder, { recursive: true, force: true });
  }
}

/** The packages of this version, if they are the same. */
async function install(root: string, tree: string, signal: AbortSignal): Promise<void> {
  const [own, other] = await Promise.all([root, tree].map((each) => readFile(join(each, 'package-lock.json'), 'utf8')));
  if (own === other) await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  else await run(tree, 'npm', ['ci', '--no-progress', '--loglevel=error'], INSTALL_MS, signal);
}

/** Runs a command that must succeed. */
export async function run(
  cwd: string,
  file: string,
  args: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const { code, stderr } = await runCommand(file, args, { cwd, timeoutMs, signal });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} in ${cwd} failed:\n${stderr.trim()}`);
}
