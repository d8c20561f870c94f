import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule, Program } from '../gobuild/program.ts';

/** The programs that a control plane is made of. */
type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl' | 'kwok';
/** Those of a real node: see hack/realnode. */
type NodeBinaryName = 'kubelet' | 'kube-proxy';

/** Their absolute paths. */
export type Binaries = Readonly<Record<BinaryName, string>>;

/** Kubernetes minors that a control plane can have, newest first: the default, and the oldest in standard support of EKS. */
const SERIES = ['1.36', '1.34'] as const;
type Series = (typeof SERIES)[number];

/** Not part of Kubernetes: every control plane has the same. */
const others: readonly Program<BinaryName>[] = [
  {
    name: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    buildSeconds: 34,
    installed: { versionArgs: ['--version'], series: '3.6' },
  },
  {
    name: 'kwok',
    package: 'sigs.k8s.io/kwok/cmd/kwok',
    buildSeconds: 7,
    installed: { versionArgs: ['--version'], series: '0.8' },
  },
];

/** Seconds of building are those of an empty build cache: what a program shares with the ones before it is built only once. */
const kubernetes = (series: Series): readonly Program<BinaryName>[] => [
  kubernetesProgram('kube-apiserver', series, 149),
  kubernetesProgram('kube-controller-manager', series, 51),
  kubernetesProgram('kube-scheduler', series, 3),
  kubernetesProgram('kubectl', series, 16, ['version', '--client']),
];

/** Only built on demand. */
const node = [kubernetesProgram('kubelet', '1.36', 43), kubernetesProgram('kube-proxy', '1.36', 11)];

function kubernetesProgram<Name extends string>(
  name: Name,
  series: Series,
  buildSeconds: number,
  versionArgs = ['--version'],
): Program<Name> {
  return {
    name,
    package: `k8s.io/kubernetes/cmd/${name}`,
    buildSeconds,
    installed: { versionArgs, series },
    stamps: (versionOf) => kubernetesStamps(versionOf('k8s.io/kubernetes')),
  };
}

export const controlPlaneModule: GoModule<BinaryName | NodeBinaryName> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'controlplane',
  what: 'the local Kubernetes',
  programs: [...others.slice(0, 1), ...kubernetes('1.36'), ...others.slice(1), ...node],
};

/** Only built on demand. */
export const olderModule: GoModule<BinaryName> = {
  dir: fileURLToPath(new URL('older/', import.meta.url)),
  name: 'controlplane-older',
  what: 'the older local Kubernetes',
  programs: kubernetes('1.34'),
};

/** The Kubernetes minor that the environment variable KUBERNETES chooses. Throws for one that cannot be built here. */
export function chosenSeries(choice = process.env.KUBERNETES): Series {
  const found = choice ? SERIES.find((series) => series === choice) : SERIES[0];
  if (!found) throw new Error(`KUBERNETES=${choice}: must be one of ${SERIES.join(', ')}.`);
  return found;
}

/** Finds or builds the programs of a control plane: see `ensurePrograms`. */
export async function ensureBinaries(log: Log, signal?: AbortSignal): Promise<Binaries> {
  if (chosenSeries() === SERIES[0])
    return ensurePrograms(
      controlPlaneModule,
      log,
      signal,
      [...others, ...kubernetes(SERIES[0])].map(({ name }) => name),
    );
  const shared = await ensurePrograms(
    controlPlaneModule,
    log,
    signal,
    others.map(({ name }) => name),
  );
  return { ...shared, ...(await ensurePrograms(olderModule, log, signal)) };
}

/** Finds or builds the programs of a real node that are part of Kubernetes. */
export function nodePrograms(log: Log, signal?: AbortSignal): Promise<Readonly<Record<NodeBinaryName, string>>> {
  return ensurePrograms(
    controlPlaneModule,
    log,
    signal,
    node.map(({ name }) => name),
  );
}

/** Without these Kubernetes calls itself v0.0.0-master and refuses to compare versions. */
export function kubernetesStamps(version: string): readonly string[] {
  const [major, minor] = version.slice(1).split('.');
  return [
    `k8s.io/component-base/version.gitVersion=${version}`,
    `k8s.io/component-base/version.gitMajor=${major}`,
    `k8s.io/component-base/version.gitMinor=${minor}`,
    `k8s.io/client-go/pkg/version.gitVersion=${version}`,
  ];
}
