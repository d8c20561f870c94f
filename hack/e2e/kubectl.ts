/** kubectl, always with the context that was current at the start of the run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { runCommand } from '../controlplane/command.ts';

export interface KubectlOptions {
  readonly stdin?: string;
  /** Default: 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The members of a kubeconfig that a run reads: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ */
export interface Kubeconfig {
  readonly 'current-context': string;
  readonly clusters: readonly {
    readonly name: string;
    readonly cluster?: { readonly 'certificate-authority-data'?: string };
  }[];
}

/** Runs kubectl. Throws before `pin`. */
export class Kubectl {
  readonly #file: string;
  #pinned: { readonly path: string; readonly config: Kubeconfig } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Copies the current context of the caller to a file that only the caller can read. Later calls use the copy, even if the current context has changed. */
  async pin(path: string, signal: AbortSignal): Promise<Kubeconfig> {
    const view = ['config', 'view', '--minify', '--raw', '--flatten', '--output=json'];
    const text = await this.#run(view, [], { signal });
    await writeFile(path, text, { mode: 0o600 });
    this.#pinned = { path, config: JSON.parse(text) };
    return this.#pinned.config;
  }

  /** The copied kubeconfig; undefined before `pin`. */
  get config(): Kubeconfig | undefined {
    return this.#pinned?.config;
  }

  /** Standard output. Throws standard error if kubectl fails. */
  async run(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    return this.#run(args, this.#pinnedFlags(), options);
  }

  /** Starts kubectl in a process group of its own, which Ctrl-C in a terminal does not reach. */
  follow(args: readonly string[]): ChildProcess {
    return spawn(this.#file, [...this.#pinnedFlags(), ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
  }

  /** The command for the caller to run manually, with the context of the run. */
  commandLine(args: readonly string[]): string {
    const context = this.#pinned?.config['current-context'];
    return ['kubectl', ...(context === undefined ? [] : ['--context', context]), ...args].map(quoted).join(' ');
  }

  /** An object; undefined if it or its kind does not exist. */
  async get<T>(kind: string, name: string, flags: readonly string[], signal?: AbortSignal): Promise<T | undefined> {
    const text = await this.#read(['get', kind, name, '--output=json', '--ignore-not-found', ...flags], signal);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The objects of a list; none if the kind does not exist. */
  async list<T>(kind: string, flags: readonly string[], signal?: AbortSignal): Promise<readonly T[]> {
    const text = await this.#read(['get', kind, '--output=json', ...flags], signal);
    return text === '' ? [] : JSON.parse(text).items;
  }

  async apply(object: object, signal?: AbortSignal): Promise<void> {
    await this.run(['apply', '--filename=-'], { stdin: JSON.stringify(object), ...(signal && { signal }) });
  }

  #read(args: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    return this.run(args, signal && { signal }).catch((error: unknown) => {
      if (error instanceof Error && /the server doesn't have a resource type/.test(error.message)) return '';
      throw error;
    });
  }

  async #run(args: readonly string[], flags: readonly string[], options: KubectlOptions): Promise<string> {
    const { stdout, stderr, code } = await runCommand(this.#file, [...flags, ...args], {
      env: process.env,
      timeoutMs: 60_000,
      ...options,
    });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  #pinnedFlags(): readonly string[] {
    if (this.#pinned === undefined) throw new Error('kubectl must not run before its kubeconfig is pinned');
    return [`--kubeconfig=${this.#pinned.path}`];
  }
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
