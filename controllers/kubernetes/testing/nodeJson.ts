import type {
  V1Node,
  V1NodeSpec,
  V1NodeStatus,
  V1NodeSystemInfo,
  V1ObjectMeta,
  V1Taint,
} from '@kubernetes/client-node';
import type { Wire } from '../objects.ts';

type Strings = Readonly<Record<string, string>>;
type NodeSpec = Wire<V1NodeSpec>;
/** A test gives only the parts of nodeInfo that it is about. */
type NodeInfo = Partial<Wire<V1NodeSystemInfo>>;
type NodeStatus = Omit<Wire<V1NodeStatus>, 'nodeInfo'> & { readonly nodeInfo?: NodeInfo };

/** A taint as Kubernetes writes it. */
export type NodeTaint = Wire<V1Taint>;

/** A Node's JSON as tests write it. */
export type NodeJson = Omit<Wire<V1Node>, 'metadata' | 'status'> & {
  readonly metadata: Wire<V1ObjectMeta> & { readonly name: string };
  readonly status?: NodeStatus;
};

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
    readonly nodeInfo: NodeInfo;
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
