/** The operator of an earlier commit: the last one whose program or CRD is another than that of the checkout. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../hack/controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What makes an operator another one, as git's pathspecs. */
const OPERATOR = ['cmd', 'controllers', 'crds', ':!*.md', ':!*.test.ts', ':!**/testing/*'];

export interface PreviousOperator {
  /** What it is, for a person. */
  readonly origin: string;
  /** The bundle's file that Node runs. */
  readonly entry: string;
  readonly knownFlags: ReadonlySet<string>;
  /** The folder with the crds and config of its time. */
  readonly manifests: string;
  end(): Promise<void>;
}

/**
 * Builds it from git's history, with the packages of today. Where there is no history that goes back far enough, as in an exported or
 * shallow checkout, it is built from the checkout itself: then nothing but the restart is looked at, and `origin` says so.
 */
export async function previousOperator(): Promise<PreviousOperator> {
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-previous-'));
  try {
    const commit = await lastOtherCommit();
    const sources = commit === undefined ? ROOT : join(folder, 'checkout');
    if (commit !== undefined) await checkOut(commit, sources);
    const bundle = join(folder, 'operator');
    await must(process.execPath, ['hack/build.ts', bundle], sources);
    const origin =
      commit === undefined
        ? 'this checkout: git knows no earlier one'
        : (await must('git', ['log', '-1', '--format=%h %s', commit], ROOT)).trim();
    const end = () => rm(folder, { recursive: true, force: true });
    const entry = join(bundle, 'operator.mjs');
    const help = await must(process.execPath, [entry, '--help'], sources);
    const knownFlags = new Set(help.match(/--[a-z-]+/g));
    assert.ok(knownFlags.has('--kubeconfig'), `its --help names no flags: ${help}`);
    return { origin, entry, knownFlags, manifests: sources, end };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** HEAD while the checkout has changes of the operator, else the commit before the one that changed it last; undefined without such history. */
async function lastOtherCommit(): Promise<string | undefined> {
  const top = await git('rev-parse', '--show-prefix', '--verify', 'HEAD');
  // No repository, or one around a folder that is not its root.
  if (top === undefined || !/^\n[0-9a-f]+\n$/.test(top)) return undefined;
  const changed = await git('status', '--porcelain', '--', ...OPERATOR);
  if (changed !== '') return 'HEAD';
  const last = await git('rev-list', '-1', 'HEAD', '--', ...OPERATOR);
  return (await git('rev-parse', '--verify', '--quiet', `${last?.trim()}^`))?.trim();
}

async function checkOut(commit: string, folder: string): Promise<void> {
  await mkdir(folder);
  const archive = `${folder}.tar`;
  await must('git', ['archive', '--output', archive, commit], ROOT);
  await must('tar', ['-xf', archive, '-C', folder], ROOT);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** What git prints; undefined when it fails or is not there. */
async function git(...args: readonly string[]): Promise<string | undefined> {
  const outcome = await runCommand('git', args, { cwd: ROOT, timeoutMs: 30_000 }).catch(() => undefined);
  return outcome?.code === 0 ? outcome.stdout : undefined;
}

async function must(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr, code } = await runCommand(program, args, { cwd, timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}
