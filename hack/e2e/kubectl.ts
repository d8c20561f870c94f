/** The caller's kubectl, with the caller's kubeconfig. */
import { runCommand } from '../controlplane/command.ts';

export interface KubectlOptions {
  readonly stdin?: string;
  /** Default: 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Runs kubectl. */
export class Kubectl {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** What it prints. Throws what it complains about. */
  async run(args: readonly string[], { timeoutMs = 60_000, ...options }: KubectlOptions = {}): Promise<string> {
    const { stdout, stderr, code } = await runCommand(this.file, args, { env: process.env, timeoutMs, ...options });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** An object, or undefined when there is none, also none of that kind. */
  async get<T>(kind: string, name: string, flags: readonly string[], signal?: AbortSignal): Promise<T | undefined> {
    const args = ['get', kind, name, '--output=json', '--ignore-not-found', ...flags];
    const text = await this.run(args, signal && { signal }).catch((error: unknown) => {
      if (error instanceof Error && /the server doesn't have a resource type/.test(error.message)) return '';
      throw error;
    });
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The objects of a list. */
  async list<T>(kind: string, flags: readonly string[], signal?: AbortSignal): Promise<readonly T[]> {
    const text = await this.run(['get', kind, '--output=json', ...flags], signal && { signal });
    return JSON.parse(text).items;
  }

  async apply(object: object, signal?: AbortSignal): Promise<void> {
    await this.run(['apply', '--filename=-'], { stdin: JSON.stringify(object), ...(signal && { signal }) });
  }
}
