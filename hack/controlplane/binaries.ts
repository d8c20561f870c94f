import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule, Program } from '../gobuild/program.ts';

/** The programs that a control plane is made of. */
type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl' | 'kwok';

/** Their absolute paths. */
export type Binaries = Readonly<Record<BinaryName, string>>;

/** The only minor version that this control plane's flags and stages were tried with. */
const kubernetesSeries = '1.36';

/** Seconds of building are those of an empty build cache: what a program shares with the ones before it is built only once. */
export const controlPlaneModule: GoModule<BinaryName> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'controlplane',
  what: 'the local Kubernetes',
  programs: [
    {
      name: 'etcd',
      package: 'go.etcd.io/etcd/server/v3',
      buildSeconds: 34,
      installed: { versionArgs: ['--version'], series: '3.6' },
    },
    kubernetes('kube-apiserver', 149),
    kubernetes('kube-controller-manager', 51),
    kubernetes('kube-scheduler', 3),
    kubernetes('kubectl', 16, ['version', '--client']),
    {
      name: 'kwok',
      package: 'sigs.k8s.io/kwok/cmd/kwok',
      buildSeconds: 7,
      installed: { versionArgs: ['--version'], series: '0.8' },
    },
  ],
};

/** Finds or builds the programs of a control plane: see `ensurePrograms`. */
export function ensureBinaries(log: Log, signal?: AbortSignal): Promise<Binaries> {
  return ensurePrograms(controlPlaneModule, log, signal);
}

function kubernetes(name: BinaryName, buildSeconds: number, versionArgs = ['--version']): Program<BinaryName> {
  return {
    name,
    package: `k8s.io/kubernetes/cmd/${name}`,
    buildSeconds,
    installed: { versionArgs, series: kubernetesSeries },
    stamps: (versionOf) => kubernetesStamps(versionOf('k8s.io/kubernetes')),
  };
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
