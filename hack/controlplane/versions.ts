import { runCommand } from './command.ts';

/** Absolute paths of the programs that a control plane is made of. */
export interface Binaries {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
  readonly 'kube-scheduler': string;
  readonly kubectl: string;
  readonly kwok: string;
}

export type BinaryName = keyof Binaries;

export interface Program {
  readonly name: BinaryName;
  /** Go package, a tool of this folder's go.mod. */
  readonly package: string;
  /** Seconds that the build took on 2 cores, in this order and from an empty build cache: the weights of "about N min left". */
  readonly buildSeconds: number;
  /** The only minor version that this control plane's flags and stages were tried with. */
  readonly minor: string;
  readonly versionArgs: readonly string[];
}

const kubernetesMinor = '1.36';

/** In the order in which they are built. */
export const programs: readonly Program[] = [
  { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', buildSeconds: 34, minor: '3.6', versionArgs: ['--version'] },
  kubernetes('kube-apiserver', 149),
  kubernetes('kube-controller-manager', 51),
  kubernetes('kube-scheduler', 3),
  { ...kubernetes('kubectl', 16), versionArgs: ['version', '--client'] },
  { name: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok', buildSeconds: 7, minor: '0.8', versionArgs: ['--version'] },
];

function kubernetes(name: BinaryName, buildSeconds: number): Program {
  return {
    name,
    package: `k8s.io/kubernetes/cmd/${name}`,
    buildSeconds,
    minor: kubernetesMinor,
    versionArgs: ['--version'],
  };
}

/** The first `major.minor.patch` in what a program prints about its version. */
export function parseVersion(text: string): string | undefined {
  return /\bv?(\d+\.\d+\.\d+)/.exec(text)?.[1];
}

/** Why the program at `path` can't be used, or undefined when it can. */
export async function whyUnusable(program: Program, path: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const { stdout, stderr, code } = await runCommand(path, program.versionArgs, { timeoutMs: 30_000, signal });
    if (code !== 0) return `it ended with status ${code} when asked for its version: ${stderr.trim()}`;
    const version = parseVersion(stdout);
    if (version === undefined) return `it tells no version but ${JSON.stringify(stdout.trim())}`;
    return version.startsWith(`${program.minor}.`)
      ? undefined
      : `it is version ${version}, and ${program.minor} is needed`;
  } catch (error) {
    signal?.throwIfAborted();
    return `it can't be run: ${error instanceof Error ? error.message : String(error)}`;
  }
}
