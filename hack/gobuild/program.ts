import { runCommand } from '../controlplane/command.ts';

/** A program that a Go module of this project pins, to be found or built. */
export interface Program<Name extends string = string> {
  readonly name: Name;
  /** Go package: a tool of the module's go.mod, or a folder in the module such as `./kstatus`. */
  readonly package: string;
  /** Go's build tags, which omit parts. */
  readonly tags?: readonly string[];
  /** Seconds of the build on 2 cores, in the module's order and from an empty build cache: the weights of "about N min left". */
  readonly buildSeconds: number;
  /**
   * The arguments that print the version of an installed program, and the only release series that is known to work (`1.36`, `4`). Without
   * this, an installed one is never used.
   */
  readonly installed?: { readonly versionArgs: readonly string[]; readonly series: string };
  /** `package.variable=value` for each Go variable without which the program has no version, from the versions that go.mod pins. */
  readonly stamps?: (versionOf: (module: string) => string) => readonly string[];
}

/** A folder with a go.mod that pins programs. A change of one module builds none of another again. */
export interface GoModule<Name extends string = string> {
  /** Absolute path of the folder of go.mod and go.sum, which pin every line of what is built. */
  readonly dir: string;
  /** The name of its folder in the cache. */
  readonly name: string;
  /** Its description in messages: "the local Kubernetes". */
  readonly what: string;
  /** In the order in which they are built. */
  readonly programs: readonly Program<Name>[];
}

/** The first `major.minor.patch` in the version output of a program. */
export function parseVersion(text: string): string | undefined {
  return /\bv?(\d+\.\d+\.\d+)/.exec(text)?.[1];
}

/** Why the program at `path` cannot be used, or undefined if it can. */
export async function whyUnusable(
  { versionArgs, series }: NonNullable<Program['installed']>,
  path: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    const { stdout, stderr, code } = await runCommand(path, versionArgs, { timeoutMs: 30_000, signal });
    if (code !== 0) return `it exited with status ${code} when asked for its version: ${stderr.trim()}`;
    const version = parseVersion(stdout);
    if (version === undefined) return `it prints no version: ${JSON.stringify(stdout.trim())}`;
    return version.startsWith(`${series}.`) ? undefined : `it is version ${version}, but ${series} is required`;
  } catch (error) {
    signal?.throwIfAborted();
    return `it cannot be run: ${error instanceof Error ? error.message : String(error)}`;
  }
}
