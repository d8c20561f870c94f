/** Nodes as EKS' Windows nodes are, in JSON and in protobuf. */
import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import type { Wire } from '../objects.ts';
import { type NodeJson, nodeJson, type RegisteredNode } from './nodeJson.ts';
import { each, envelope, frame, map, message, type WrittenField } from './protobufWriter.ts';

const CREATED = '2026-03-01T08:00:00Z';
const BEAT = '2026-03-02T09:30:00Z';

export const nodeName = (index: number): string =>
  `ip-10-${(index >> 16) & 255}-${(index >> 8) & 255}-${index & 255}.eu-west-1.compute.internal`;

export const instanceId = (index: number): string => `i-0${index.toString(16).padStart(16, '0')}`;
export const privateIp = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

/**
 * A Windows node of a pool, number `index` of many: 20 labels, 30 images. With the managed fields of the writers it has in a
 * cluster, it is 17 KB of JSON.
 */
export function windowsNode(index: number): RegisteredNode {
  const name = nodeName(index);
  const zone = `eu-west-1${'abc'[index % 3]}`;
  const instance = instanceId(index);
  return nodeJson(name, {
    labels: labels(zone, `pool-${index % 30}`),
    annotations: {
      'node.alpha.kubernetes.io/ttl': '300',
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      'csi.volume.kubernetes.io/nodeid': JSON.stringify({ 'ebs.csi.aws.com': instance }),
    },
    spec: {
      providerID: `aws:///${zone}/${instance}`,
      taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    },
    status: {
      capacity,
      allocatable: { memory: '14679548Ki' },
      conditions: kubeletConditions(BEAT),
      addresses: [
        { type: 'InternalIP', address: privateIp(index) },
        { type: 'Hostname', address: name },
        { type: 'InternalDNS', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: instance,
        systemUUID: `EC2${instance.slice(3)}`,
        bootID: '9',
        kernelVersion: '10.0.20348.3207',
        kubeletVersion: 'v1.36.3-eks-1a2b3c4',
      },
      runtimeHandlers: ['', 'runhcs-wcow-hypervisor', 'runhcs-wcow-process'].map((handler) => ({
        name: handler,
        features: {},
      })),
      images,
    },
  });
}

const labels = (zone: string, pool: string): Record<string, string> => ({
  'beta.kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/instance-type': 'm6i.xlarge',
  'beta.kubernetes.io/os': 'windows',
  'eks.amazonaws.com/capacityType': 'ON_DEMAND',
  'eks.amazonaws.com/nodegroup': pool,
  'eks.amazonaws.com/nodegroup-image': 'ami-0123456789abcdef0',
  'eks.amazonaws.com/sourceLaunchTemplateId': 'lt-0123456789abcdef0',
  'eks.amazonaws.com/sourceLaunchTemplateVersion': '1',
  'failure-domain.beta.kubernetes.io/region': 'eu-west-1',
  'failure-domain.beta.kubernetes.io/zone': zone,
  'k8s.io/cloud-provider-aws': 'b1f6e2a4c8d90735e1a2b3c4d5e6f708',
  'node.kubernetes.io/instance-type': 'm6i.xlarge',
  'topology.kubernetes.io/region': 'eu-west-1',
  'topology.kubernetes.io/zone': zone,
  'winpool.dev/pool': pool,
  'winpool.dev/windows-build': '10.0.20348',
});

const capacity = {
  'ephemeral-storage': '104855532Ki',
  memory: '16776700Ki',
  'vpc.amazonaws.com/PrivateIPv4Address': '14',
};

/** The conditions of a healthy node, in the kubelet's order and words. */
export const kubeletConditions = (heartbeat: string) =>
  [
    ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
  ].map(([type = '', status = '', reason = '', text = '']) => {
    return { type, status, reason, message: text, lastHeartbeatTime: heartbeat, lastTransitionTime: CREATED };
  });

const images = Array.from({ length: 30 }, (_, index) => {
  const repository = `123456789012.dkr.ecr.eu-west-1.amazonaws.com/platform/team-${index % 5}/windows/service-${index}`;
  const digest = (index + 1).toString(16).padStart(64, '5f0c');
  const tags = [`2026.03.${index}-ltsc2022`, 'stable-ltsc2022'];
  return {
    names: [`${repository}@sha256:${digest}`, ...tags.map((tag) => `${repository}:${tag}`)],
    sizeBytes: 2e9 + index,
  };
});

/** Managed fields of the writers of a node in a cluster. */
function managedFields({ metadata, spec, status }: NodeJson): readonly Wire<V1ManagedFieldsEntry>[] {
  const owned = (value: unknown): object =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? {}
      : Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, owned(inner)]));
  return [
    { manager: 'kubelet.exe', fieldsV1: { 'f:metadata': owned(metadata), 'f:spec': owned(spec) } },
    { manager: 'kubelet.exe', fieldsV1: { 'f:status': owned(status) } },
    { manager: 'kube-controller-manager', fieldsV1: { 'f:metadata': owned({ labels: metadata.labels }) } },
  ];
}

/** Adds what the API server adds. */
export function stored(node: NodeJson, index: number): NodeJson {
  return {
    ...node,
    metadata: {
      ...node.metadata,
      uid: `${index.toString(16).padStart(8, '0')}-1111-4222-8333-444455556666`,
      resourceVersion: String(1_000 + index),
      creationTimestamp: CREATED,
      managedFields: managedFields(node),
    },
  };
}

/** A Node in protobuf. Field numbers of k8s.io/api v0.36 core/v1 and apimachinery v0.36 meta/v1 (generated.proto). */
export function nodeMessage({ metadata, spec, status }: NodeJson): Buffer {
  const quantity = (text: string): Buffer => message([1, text]);
  return message(
    [1, metadataMessage(metadata)],
    [
      2,
      message(
        [3, spec?.providerID ?? ''],
        [4, spec?.unschedulable ? 1 : 0],
        ...each(5, spec?.taints, ({ key, value = '', effect, timeAdded }) =>
          message([1, key], [2, value], [3, effect], [4, timeAdded && time(timeAdded)]),
        ),
      ),
    ],
    [
      3,
      message(
        ...map(1, status?.capacity, quantity),
        ...map(2, status?.allocatable, quantity),
        ...each(4, status?.conditions, ({ type, status: value, reason = '', message: text = '', ...times }) =>
          message(
            [1, type],
            [2, value],
            [3, time(times.lastHeartbeatTime)],
            [4, time(times.lastTransitionTime)],
            [5, reason],
            [6, text],
          ),
        ),
        ...each(5, status?.addresses, ({ type, address }) => message([1, type], [2, address])),
        [6, message([1, message([1, status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0])])],
        [7, message(...Object.entries(status?.nodeInfo ?? {}).map(infoField))],
        ...each(12, status?.runtimeHandlers, ({ name = '', features }) =>
          message([1, name], [2, features && message([2, features.userNamespaces ? 1 : 0])]),
        ),
        ...each(8, status?.images, ({ names, sizeBytes }) => message(...each(1, names, String), [2, sizeBytes])),
      ),
    ],
  );
}

function metadataMessage(metadata: NodeJson['metadata']): Buffer {
  return message(
    [1, metadata.name],
    [2, ''],
    [3, ''],
    [5, metadata.uid ?? ''],
    [6, metadata.resourceVersion ?? ''],
    [7, 0],
    [8, time(metadata.creationTimestamp)],
    [9, metadata.deletionTimestamp && time(metadata.deletionTimestamp)],
    ...map(11, metadata.labels, String),
    ...map(12, metadata.annotations, String),
    ...each(14, metadata.finalizers, String),
    ...each(17, metadata.managedFields, ({ manager, fieldsV1 }) =>
      message([1, manager], [2, 'Update'], [3, 'v1'], [6, 'FieldsV1'], [7, message([1, JSON.stringify(fieldsV1)])]),
    ),
  );
}

const INFO = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

const infoField = ([name, value]: [string, unknown]): WrittenField => [INFO.indexOf(name) + 1, String(value)];

/** An empty message is the zero time. */
function time(text: string | undefined): Buffer {
  return text === undefined ? message() : message([1, Date.parse(text) / 1000], [2, 0]);
}

/** An event of a watch of nodes. */
export function nodeFrame(type: string, node: NodeJson): Buffer {
  return frame(type, envelope('v1', 'Node', nodeMessage(node)));
}

/** The response to a list of nodes. */
export function nodeListBody(resourceVersion: string, nodes: readonly NodeJson[], continueToken = ''): Buffer {
  const metadata = message([1, ''], [2, resourceVersion], [3, continueToken]);
  return envelope('v1', 'NodeList', message([1, metadata], ...each(2, nodes, nodeMessage)));
}
