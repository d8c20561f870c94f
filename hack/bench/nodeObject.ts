/** A Windows node as large as a real one on EKS: about 17 KB of JSON, two thirds of it images. */

const VERSION = '10.0.20348';
/** The revision (UBR) of a fresh node's kernel. */
export const REVISION = 5020;

const IMAGES = [
  'mcr.microsoft.com/windows/servercore',
  'mcr.microsoft.com/windows/nanoserver',
  'mcr.microsoft.com/dotnet/framework/aspnet',
  'mcr.microsoft.com/dotnet/framework/runtime',
  '111122223333.dkr.ecr.eu-west-1.amazonaws.com/team-payments/order-processing-service',
  '111122223333.dkr.ecr.eu-west-1.amazonaws.com/team-identity/legacy-directory-gateway',
];
const MEMORY_KIB = 16_776_188;
const RESERVED_KIB = 2_400_000;

export function kernelVersion(revision: number): string {
  return `${VERSION}.${revision}`;
}

export function nodeName(index: number): string {
  return `ip-10-${(index >> 16) & 255}-${(index >> 8) & 255}-${index & 255}.eu-west-1.compute.internal`;
}

/** The node group that a node is in when there are so many. */
export function groupName(index: number, groups: number): string {
  return `windows-${index % groups}`;
}

/** What a node has beside what every node has. */
export interface Extras {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly object[];
}

/** The Node with this number, with everything that a pool's verification looks at in order. */
export function nodeObject(index: number, group: string, extras: Extras = {}): object {
  const capacity = {
    cpu: '4',
    'ephemeral-storage': '52427772Ki',
    memory: `${MEMORY_KIB}Ki`,
    pods: '110',
    'vpc.amazonaws.com/PrivateIPv4Address': '14',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName(index),
      labels: { ...labels(index, group), ...extras.labels },
      annotations: annotations(index),
    },
    spec: {
      ...(isSpecial(index) && { unschedulable: true }),
      providerID: `aws:///eu-west-1${zone(index)}/i-${hex(index, 17)}`,
      taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }, ...(extras.taints ?? [])],
    },
    status: {
      capacity,
      allocatable: { ...capacity, cpu: '3920m', memory: `${MEMORY_KIB - RESERVED_KIB}Ki` },
      conditions: [...conditions(new Date()), result(group)],
      addresses: [
        { type: 'InternalIP', address: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}` },
        { type: 'InternalDNS', address: nodeName(index) },
        { type: 'Hostname', address: nodeName(index) },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: nodeInfo(index),
      runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-process' }, { name: 'runhcs-wcow-hypervisor' }],
      images: Array.from({ length: 30 }, (_, image) => imageObject(index, image)),
    },
  };
}

/** The conditions of a healthy node, in the kubelet's order and words. */
export function conditions(now: Date): readonly object[] {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const since = '2026-01-15T08:00:00Z';
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: since,
    reason,
    message,
  });
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}

/** What the operator told the node long ago. The pool is called like its group. */
function result(group: string): object {
  const message = `WindowsPool ${group}: passes every check.`;
  const lastTransitionTime = '2026-01-15T08:01:30Z';
  return { type: 'winpool.dev/Verified', status: 'True', reason: 'ChecksPassed', message, lastTransitionTime };
}

function labels(index: number, group: string): Record<string, string> {
  const region = {
    'topology.kubernetes.io/region': 'eu-west-1',
    'failure-domain.beta.kubernetes.io/region': 'eu-west-1',
  };
  const az = `eu-west-1${zone(index)}`;
  return {
    ...region,
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'm5.xlarge',
    'beta.kubernetes.io/os': 'windows',
    'eks.amazonaws.com/capacityType': 'ON_DEMAND',
    'eks.amazonaws.com/nodegroup': group,
    'eks.amazonaws.com/nodegroup-image': 'ami-0f1e2d3c4b5a69788',
    'eks.amazonaws.com/sourceLaunchTemplateId': 'lt-0a1b2c3d4e5f60718',
    'eks.amazonaws.com/sourceLaunchTemplateVersion': '1',
    'failure-domain.beta.kubernetes.io/zone': az,
    'k8s.io/cloud-provider-aws': 'b1f6e2a4c8d90735e1a2b3c4d5e6f708',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': nodeName(index),
    'kubernetes.io/os': 'windows',
    'node.kubernetes.io/instance-type': 'm5.xlarge',
    'node.kubernetes.io/windows-build': VERSION,
    'topology.k8s.aws/zone-id': `euw1-az${(index % 3) + 1}`,
    'topology.kubernetes.io/zone': az,
    'winpool.dev/pool': group,
    'winpool.dev/windows-build': VERSION,
  };
}

/** Some nodes are cordoned and are not to be drained: what is kept of that must be equal, too. */
function isSpecial(index: number): boolean {
  return index % 97 === 1;
}

function annotations(index: number): Record<string, string> {
  return {
    ...(isSpecial(index) && { 'winpool.dev/exclude-from-drain': 'true' }),
    'alpha.kubernetes.io/provided-node-ip': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    'node.alpha.kubernetes.io/ttl': '0',
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    'csi.volume.kubernetes.io/nodeid': JSON.stringify({ 'ebs.csi.aws.com': `i-${hex(index, 17)}` }),
  };
}

function nodeInfo(index: number): Record<string, string> {
  return {
    machineID: `EC2AMAZ-${hex(index, 7).toUpperCase()}`,
    systemUUID: `ec2${hex(index, 5)}-0000-0000-0000-${hex(index, 12)}`,
    bootID: '9',
    kernelVersion: kernelVersion(REVISION),
    osImage: 'Windows Server 2022 Datacenter',
    containerRuntimeVersion: 'containerd://2.1.6',
    kubeletVersion: 'v1.36.1-eks-3385e9f',
    kubeProxyVersion: '',
    operatingSystem: 'windows',
    architecture: 'amd64',
  };
}

function imageObject(index: number, image: number): object {
  const name = IMAGES[image % IMAGES.length];
  return {
    names: [
      `${name}@sha256:${hex(index * 31 + image, 64)}`,
      `${name}:ltsc2022-${2_026_000 + image}-amd64`,
      `${name}:ltsc2022-amd64-release-candidate-of-branch-main-commit-${hex(image, 40)}`,
    ],
    sizeBytes: 300_000_000 + 97_531 * image,
  };
}

function zone(index: number): string {
  return 'abc'.charAt(index % 3);
}

/** Digits that look random and are always the same for a number. */
function hex(seed: number, length: number): string {
  let state = (seed + 1) >>> 0;
  let text = '';
  while (text.length < length) {
    // Numerical Recipes' linear congruential generator.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += state.toString(16).padStart(8, '0');
  }
  return text.slice(0, length);
}
