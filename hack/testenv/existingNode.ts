/** A Windows node that nobody here made: what a pool of existing nodes is for. */

export interface ExistingNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  /** Default: a Windows Server 2022. */
  readonly kernelVersion?: string;
  /** Default: 12Gi of 16Gi. */
  readonly allocatableMemory?: string;
  readonly runtimeHandlers?: readonly { readonly name: string }[];
  /** What else its kubelet reports of itself. */
  readonly nodeInfo?: Readonly<Record<string, string>>;
}

/** The Node as its kubelet registers it. kwok plays the kubelet from then on. */
export function existingNode({ name, kernelVersion = '10.0.20348.2762', ...more }: ExistingNode): object {
  const resources = { cpu: '4', memory: '16Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake', ...more.annotations },
      labels: {
        'kubernetes.io/os': 'windows',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'node.kubernetes.io/windows-build': kernelVersion.split('.').slice(0, 3).join('.'),
        ...more.labels,
      },
    },
    spec: { providerID: `vsphere://${name}`, ...(more.taints && { taints: more.taints }) },
    status: {
      capacity: resources,
      allocatable: { ...resources, memory: more.allocatableMemory ?? '12Gi' },
      ...(more.runtimeHandlers && { runtimeHandlers: more.runtimeHandlers }),
      addresses: more.addresses ?? [{ type: 'Hostname', address: name }],
      nodeInfo: {
        operatingSystem: 'windows',
        architecture: 'amd64',
        osImage: 'Windows Server 2022 Datacenter',
        kernelVersion,
        kubeletVersion: 'v1.36.1',
        containerRuntimeVersion: 'containerd://2.1.6',
        kubeProxyVersion: '',
        machineID: name,
        systemUUID: name,
        bootID: '1',
        ...more.nodeInfo,
      },
    },
  };
}
