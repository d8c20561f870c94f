/** The operator of an earlier commit: the last one whose program or CRD is another than that of the checkout. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runCommand } from '../../hack/controlplane/command.ts';
import { IMAGE } from '../fakes/testenv/operatorPods.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The files whose changes make another operator, as pathspecs of git. */
const OPERATOR = ['cmd', 'controllers', 'crds', ':!*.md', ':!*.test.ts', ':!**/testing/*'];
/** The first commit of the API to upgrade from, by a line of its CRD: pools of earlier commits have fields that no longer exist. */
export const FIRST_LINE_OF_API = 'title: Tracking';

export interface PreviousOperator {
  /** A description for the log. */
  readonly origin: string;
  /** The file of the bundle that Node runs. */
  readonly entry: string;
  readonly knownFlags: ReadonlySet<string>;
  /** The folder with its crds and config. */
  readonly manifests: string;
  /** Builds its image, with a tag, as its own `make image` does, for amd64. Returns the path of the archive. */
  imageArchive(tag: string): Promise<string>;
  end(): Promise<void>;
}

/**
 * Builds it from git's history, with the packages of today. Where there is no history, as in an exported checkout, or none with this API, it is built
 * from the checkout itself: then only the restart is tested, and `origin` shows that. Throws with the remedy if the history is incomplete, as in a shallow clone.
 */
export async function previousOperator(): Promise<PreviousOperator> {
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-previous-'));
  try {
    const commit = await lastOtherCommit(ROOT);
    const sources = commit === undefined ? ROOT : join(folder, 'checkout');
    if (commit !== undefined) await checkOut(commit, sources);
    const bundle = join(folder, 'operator');
    await must(process.execPath, ['hack/build.ts', bundle], sources);
    const origin =
      commit === undefined
        ? 'this checkout: git has no earlier one with this API'
        : (await must('git', ['log', '-1', '--format=%h %s', commit], ROOT)).trim();
    const end = () => rm(folder, { recursive: true, force: true });
    const entry = join(bundle, 'operator.mjs');
    const help = await must(process.execPath, [entry, '--help'], sources);
    const knownFlags = new Set(help.match(/--[a-z-]+/g));
    assert.ok(knownFlags.has('--kubeconfig'), `its --help names no flags: ${help}`);
    const imageArchive = async (tag: string) => {
      if (commit !== undefined) await copyPackages(sources);
      const options = { folder: join(folder, 'image'), architectures: ['amd64'], reference: `${IMAGE}:${tag}` };
      const { buildImage } = await import(pathToFileURL(join(sources, 'hack/image/buildImage.ts')).href);
      return (await buildImage(options)).archive;
    };
    return { origin, entry, knownFlags, manifests: sources, imageArchive, end };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * HEAD while the checkout `root` has changes of the operator, otherwise the commit before the last change; undefined if there is none with
 * FIRST_LINE_OF_API in its CRD. Throws if a shallow clone ends before that commit, because its oldest commit seems to have changed
 * everything.
 */
export async function lastOtherCommit(root: string): Promise<string | undefined> {
  const git = (...args: readonly string[]) => gitIn(root, args);
  const withApi = async (commit: string) =>
    (await git('show', `${commit}:crds/windowspools.yaml`))?.includes(FIRST_LINE_OF_API) ? commit : undefined;
  const top = await git('rev-parse', '--show-prefix', '--verify', 'HEAD');
  // No repository, or one whose root is another folder.
  if (top === undefined || !/^\n[0-9a-f]+\n$/.test(top)) return undefined;
  const changed = await git('status', '--porcelain', '--', ...OPERATOR);
  if (changed !== '') return await withApi('HEAD');
  const last = await git('rev-list', '-1', 'HEAD', '--', ...OPERATOR);
  const before = await git('rev-parse', '--verify', '--quiet', `${last?.trim()}^`);
  if (before === undefined && (await git('rev-parse', '--is-shallow-repository'))?.trim() === 'true')
    throw new Error(
      `${root} is a shallow clone: its history ends before the last change of the operator, so there is no previous operator to upgrade from. Run: git fetch --unshallow`,
    );
  return before === undefined ? undefined : await withApi(before.trim());
}

async function checkOut(commit: string, folder: string): Promise<void> {
  await mkdir(folder);
  const archive = `${folder}.tar`;
  await must('git', ['archive', '--output', archive, commit], ROOT);
  await must('tar', ['-xf', archive, '-C', folder], ROOT);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Replaces the link to the packages by a copy: the image of an earlier commit lists no packages that are elsewhere. */
async function copyPackages(folder: string): Promise<void> {
  const target = join(folder, 'node_modules');
  await rm(target);
  await must('cp', ['--archive', join(ROOT, 'node_modules'), target], ROOT);
}

/** The output of git; undefined if it fails or does not exist. */
async function gitIn(root: string, args: readonly string[]): Promise<string | undefined> {
  const outcome = await runCommand('git', args, { cwd: root, timeoutMs: 30_000 }).catch(() => undefined);
  return outcome?.code === 0 ? outcome.stdout : undefined;
}

async function must(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr, code } = await runCommand(program, args, { cwd, timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}
