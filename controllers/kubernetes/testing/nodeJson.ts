type Strings = Readonly<Record<string, string>>;

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

interface NodeSpec {
  readonly providerID?: string;
  readonly unschedulable?: boolean;
  readonly taints?: readonly NodeTaint[];
}

interface NodeStatus {
  readonly capacity?: Strings;
  readonly allocatable?: Strings;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
    readonly lastHeartbeatTime?: string;
    readonly lastTransitionTime?: string;
  }[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint: { readonly Port: number } };
  readonly nodeInfo?: Strings;
  readonly runtimeHandlers?: readonly {
    readonly name?: string;
    readonly features?: { readonly userNamespaces?: boolean };
  }[];
  readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
}

/** As much of a Node's JSON as tests write. */
export interface NodeJson {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Strings;
    readonly annotations?: Strings;
    readonly finalizers?: readonly string[];
    readonly managedFields?: readonly { readonly manager: string; readonly fieldsV1: object }[];
  };
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** What a Node has beside what `nodeJson` gives every Node, or instead of it. */
export interface NodeParts {
  readonly labels?: Strings | undefined;
  readonly annotations?: Strings | undefined;
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** A Node that has a status, as a kubelet registers it. */
export type RegisteredNode = NodeJson & {
  readonly metadata: { readonly labels: Strings };
  readonly spec: NodeSpec;
  readonly status: NodeStatus & {
    readonly capacity: Strings;
    readonly allocatable: Strings;
    readonly nodeInfo: Strings;
  };
};

/** A Node as its kubelet registers it: Windows Server 2022 with 4 CPUs and 16Gi, unless its parts say otherwise. */
export function nodeJson(
  name: string,
  { labels, annotations, spec = {}, status = {} }: NodeParts = {},
): RegisteredNode {
  const nodeInfo = {
    machineID: name,
    systemUUID: name,
    bootID: '1',
    kernelVersion: '10.0.20348.2762',
    osImage: 'Windows Server 2022 Datacenter',
    containerRuntimeVersion: 'containerd://2.1.6',
    kubeletVersion: 'v1.36.1',
    kubeProxyVersion: '',
    operatingSystem: 'windows',
    architecture: 'amd64',
    ...status.nodeInfo,
  };
  const { operatingSystem, architecture, kernelVersion } = nodeInfo;
  const capacity = { cpu: '4', memory: '16Gi', pods: '110', ...status.capacity };
  const build = kernelVersion.split('.').slice(0, 3).join('.');
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': architecture,
        'kubernetes.io/os': operatingSystem,
        'kubernetes.io/hostname': name,
        ...(operatingSystem === 'windows' && { 'node.kubernetes.io/windows-build': build }),
        ...labels,
      },
      ...(annotations && { annotations }),
    },
    spec,
    status: {
      addresses: [{ type: 'Hostname', address: name }],
      ...status,
      capacity,
      allocatable: { ...capacity, ...status.allocatable },
      nodeInfo,
    },
  };
}
