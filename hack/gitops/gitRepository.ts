/** A Git repository on this machine, from which GitOps tools sync. */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 30_000;
/** Where the project is developed. */
const PROJECT = 'https://github.com/windowspool-operator/windowspool-operator';
/** What a platform team copies into its repository. `config` refers to the CRD. */
const COPIED = ['config', 'crds'];

/** The same commits for every user of the machine. */
const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Platform team',
  GIT_AUTHOR_EMAIL: 'platform@example.com',
  GIT_COMMITTER_NAME: 'Platform team',
  GIT_COMMITTER_EMAIL: 'platform@example.com',
};

/** A repository with a work tree, on branch `main`. */
export class GitRepository {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** A copy of the operator's manifests, committed. */
  static async create(): Promise<GitRepository> {
    const repository = new GitRepository(await mkdtemp(join(tmpdir(), 'windowspool-git-')));
    try {
      await repository.#git('init', '--quiet', '--initial-branch=main');
      for (const name of COPIED) await cp(join(ROOT, name), join(repository.folder, name), { recursive: true });
      await repository.commit('Add the operator and its pools');
      return repository;
    } catch (error) {
      await repository.remove();
      throw error;
    }
  }

  /** The URL that Argo CD accepts. */
  get url(): string {
    return `file://${this.folder}`;
  }

  /**
   * The variables with which git reads the project's own repository from this one, at the tag of a release. What refers to that repository by its URL
   * can then be tested before it is published.
   */
  async asPublished(tag: string): Promise<NodeJS.ProcessEnv> {
    await this.#git('tag', '--force', tag);
    // kustomize appends .git to the URL.
    const served = join(this.folder, '.git/served');
    await mkdir(served, { recursive: true });
    await symlink(this.folder, join(served, `${basename(PROJECT)}.git`)).catch(() => undefined);
    const config = join(served, 'config');
    await writeFile(config, `[url "file://${served}/"]\n\tinsteadOf = ${dirname(PROJECT)}/\n[safe]\n\tdirectory = *\n`);
    return { GIT_CONFIG_GLOBAL: config };
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), 'utf8');
  }

  async write(path: string, text: string): Promise<void> {
    const file = join(this.folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Rewrites a file. Throws if that changes nothing. */
  async edit(path: string, change: (text: string) => string): Promise<void> {
    const before = await this.read(path);
    const after = change(before);
    if (after === before) throw new Error(`The edit of ${path} changes nothing.`);
    await this.write(path, after);
  }

  /** Commits all changes, and returns the hash of the commit. */
  async commit(subject: string): Promise<string> {
    await this.#git('add', '--all');
    await this.#git('commit', '--quiet', '--message', subject);
    return (await this.#git('rev-parse', 'HEAD')).trim();
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #git(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await runCommand('git', args, {
      cwd: this.folder,
      env: { ...process.env, ...ENVIRONMENT },
      timeoutMs: TIMEOUT_MS,
    });
    if (code !== 0) throw new Error(`git ${args.join(' ')} exited with status ${code}: ${stderr.trim()}`);
    return stdout;
  }
}
