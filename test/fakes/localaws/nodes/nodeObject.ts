/*
 * The Node that a kubelet registers for an instance. Order of labels and taints as in initialNode and updateDefaultLabels
 * of pkg/kubelet/kubelet_node_status.go, Kubernetes 1.36; the values as EKS' Windows images report them.
 */

import type { Taint } from '@aws-sdk/client-eks';
import type { V1NodeSystemInfo } from '@kubernetes/client-node';
import type { Wire } from '../../../../controllers/kubernetes/objects.ts';
import { type NodeTaint, nodeJson, type RegisteredNode } from '../../../../controllers/kubernetes/testing/nodeJson.ts';
import { parseQuantity } from '../../../../controllers/windowspool/util/quantity.ts';
import { releaseOf } from '../ec2/images.ts';
import { instanceType } from '../network.ts';
import type { InstanceRecord } from '../records.ts';
import { buildOf, notNewerThan, yearOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';

/** The extended resource whose count is the number of pods that can get an address. */
export const podAddressResource = 'vpc.amazonaws.com/PrivateIPv4Address';

/** A taint that every kubelet with an external cloud provider has until the cloud controller has seen its node. */
export const uninitializedTaint: NodeTaint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

// The labels that a kubelet restores on an existing Node when it restarts.
const defaultLabels = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

const systemOf = ({ defect }: InstanceRecord): string => defect.operatingSystem ?? 'windows';

/** The labels of a kubelet: those that it sets itself, overridden by `--node-labels`. */
export const kubeletLabels = (instance: InstanceRecord): Record<string, string> => ({
  'beta.kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/os': systemOf(instance),
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/os': systemOf(instance),
  'kubernetes.io/hostname': instance.nodeName,
  ...(systemOf(instance) === 'windows' && { 'node.kubernetes.io/windows-build': buildOf(instance.kernelVersion) }),
  ...instance.nodeLabels,
});

/** The labels that a restarting kubelet restores. */
export const restartLabels = (instance: InstanceRecord): Record<string, string> =>
  Object.fromEntries(Object.entries(kubeletLabels(instance)).filter(([label]) => defaultLabels.includes(label)));

/** The labels that the cloud controller adds; a kubelet may not set all of them. */
export const cloudLabels = (cloud: LocalAwsState, instance: InstanceRecord): Record<string, string> => ({
  'beta.kubernetes.io/instance-type': instance.type,
  'node.kubernetes.io/instance-type': instance.type,
  'topology.kubernetes.io/region': cloud.cluster.region,
  'topology.kubernetes.io/zone': instance.subnet.zone,
  'topology.k8s.aws/zone-id': instance.subnet.zoneId,
  'k8s.io/cloud-provider-aws': 'b1f6e2a4c8d90735e1a2b3c4d5e6f708',
});

/** The Node as its kubelet registers it. A healthy one has no Ready condition yet: kwok reports that. */
export function nodeFor(cloud: LocalAwsState, instance: InstanceRecord): RegisteredNode {
  return nodeJson(instance.nodeName, {
    labels: kubeletLabels(instance),
    // kwok keeps nodes with the first annotation alive.
    annotations: { 'kwok.x-k8s.io/node': 'fake', 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    spec: {
      providerID: `aws:///${instance.subnet.zone}/${instance.id}`,
      taints: [...instance.registerWithTaints.map((taint) => nodeTaint(taint)), uninitializedTaint],
    },
    status: {
      ...resources(cloud, instance),
      ...(instance.defect.notReady === true ? { conditions: [readyCondition(false, cloud.timeline.now())] } : {}),
      addresses: [
        { type: 'InternalIP', address: instance.privateIp },
        { type: 'InternalDNS', address: instance.nodeName },
        { type: 'Hostname', address: instance.nodeName },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: nodeInfo(cloud, instance),
      ...runtimeHandlers(cloud, instance),
      images: [
        { names: ['amazonaws.com/eks/pause-windows:latest'], sizeBytes: 106_000_000 },
        { names: ['mcr.microsoft.com/windows/servercore:ltsc'], sizeBytes: 2_230_000_000 },
      ],
    },
  });
}

/** The Ready condition as a kubelet reports it. */
export function readyCondition(ready: boolean, now: Date) {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const state = ready
    ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { status: 'False', reason: 'KubeletNotReady', message: 'container runtime is down' };
  return { type: 'Ready', ...state, lastHeartbeatTime: time, lastTransitionTime: time };
}

/** The Ready condition as the node lifecycle controller writes it when the kubelet has stopped reporting. */
export function lostCondition(now: Date): Record<string, string> {
  const lastTransitionTime = `${now.toISOString().slice(0, 19)}Z`;
  const message = 'Kubelet stopped posting node status.';
  return { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message, lastTransitionTime };
}

/** nodeInfo as the kubelet measures it after the latest boot. */
export function nodeInfo(cloud: LocalAwsState, instance: InstanceRecord): Wire<V1NodeSystemInfo> {
  const release = releaseOf(cloud, instance.releaseVersion);
  return {
    machineID: `EC2AMAZ-${instance.id.slice(-7).toUpperCase()}`,
    systemUUID: `ec2${instance.id.slice(3, 8)}-0000-0000-0000-${instance.id.slice(-12)}`,
    bootID: String(instance.boots),
    ...systemInfo(instance),
    containerRuntimeVersion: release?.containerRuntimeVersion ?? 'containerd://2.1.6',
    kubeletVersion: kubeletVersion(cloud, instance),
    kubeProxyVersion: '',
    architecture: 'amd64',
  };
}

function systemInfo(instance: InstanceRecord) {
  const operatingSystem = systemOf(instance);
  const { kernelVersion } = instance;
  if (operatingSystem !== 'windows')
    return { operatingSystem, kernelVersion: '6.1.112-122.189.amzn2023.x86_64', osImage: 'Amazon Linux 2023' };
  const year = yearOf(kernelVersion);
  const osImage = year === undefined ? 'Windows Server Datacenter' : `Windows Server ${year} Datacenter`;
  return { operatingSystem, kernelVersion, osImage };
}

const kubeletVersion = (cloud: LocalAwsState, instance: InstanceRecord): string =>
  notNewerThan(
    cloud.cluster.apiServerVersion,
    releaseOf(cloud, instance.releaseVersion)?.kubeletVersion ?? `v${cloud.clusterState.version}.0-eks-0000000`,
  );

/** How many pods of the instance can get an address: one interface, less its own address; with prefixes 16 times as many, on Nitro. */
export function podAddresses(cloud: LocalAwsState, { type }: Pick<InstanceRecord, 'type'>): number {
  const { NetworkInfo, Hypervisor } = instanceType(type) ?? {};
  const perSlot = cloud.prefixDelegation && Hypervisor === 'nitro' ? 16 : 1;
  return Math.max(0, (NetworkInfo?.Ipv4AddressesPerInterface ?? 1) - 1) * perSlot;
}

/** A taint as Kubernetes writes it, from EKS' spelling. */
export function nodeTaint({ key = '', value, effect = 'NO_SCHEDULE' }: Taint): NodeTaint {
  const words = { NO_SCHEDULE: 'NoSchedule', NO_EXECUTE: 'NoExecute', PREFER_NO_SCHEDULE: 'PreferNoSchedule' };
  return { key, ...(value === undefined || value === '' ? {} : { value }), effect: words[effect] };
}

function resources(cloud: LocalAwsState, instance: InstanceRecord) {
  const { MemoryInfo, VCpuInfo } = instanceType(instance.type) ?? {};
  const memoryMiB = MemoryInfo?.SizeInMiB ?? 8192;
  const cpus = VCpuInfo?.DefaultVCpus ?? 2;
  const capacity = {
    cpu: String(cpus),
    memory: `${memoryMiB}Mi`,
    'ephemeral-storage': `${STORAGE / 1024}Ki`,
    // Without the argument, tests need no number of pods.
    ...(instance.kubelet['max-pods'] !== undefined && { pods: instance.kubelet['max-pods'] }),
  };
  const memory = memoryMiB * MIB;
  const threshold = evictionThresholdMiB(kubeletVersion(cloud, instance)) * MIB;
  const { reservedMiB } = instance.defect;
  const reservedMemory =
    reservedMiB === undefined
      ? reservedOf(instance, memory, 'memory', 'memory.available', threshold)
      : reservedMiB * MIB;
  const reservedStorage = reservedOf(instance, STORAGE, 'ephemeral-storage', 'nodefs.available', STORAGE / 10);
  const cpu = cpus - reservedOf(instance, cpus, 'cpu');
  const allocatable = {
    cpu: Number.isInteger(cpu) ? String(cpu) : `${Math.round(cpu * 1000)}m`,
    memory: bytes(memory - reservedMemory),
    'ephemeral-storage': bytes(STORAGE - reservedStorage),
  };
  return { capacity, allocatable };
}

const MIB = 2 ** 20;
/** In bytes: a disk of 50 GiB. */
const STORAGE = 52_427_772 * 1024;

/** `6044Mi`, or bytes, as the API server writes a quantity. */
const bytes = (amount: number): string => (amount % MIB === 0 ? `${amount / MIB}Mi` : String(Math.floor(amount)));

/**
 * Both reservations and the eviction threshold: https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/. With one threshold in the
 * arguments, the others are 0: https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds
 */
function reservedOf({ kubelet }: InstanceRecord, total: number, resource: string, signal = '', unset = 0): number {
  const { 'eviction-hard': eviction, 'system-reserved': system, 'kube-reserved': kube } = kubelet;
  const threshold = eviction === undefined ? unset : amountIn(eviction, `${signal}<`, total);
  return amountIn(system, `${resource}=`, total) + amountIn(kube, `${resource}=`, total) + threshold;
}

/** The item with this prefix in `cpu=500m,memory=2Gi` or `memory.available<10%`; 0 without one. */
function amountIn(list: string | undefined, prefix: string, total: number): number {
  const item = list?.split(',').find((each) => each.startsWith(prefix));
  const text = item?.slice(prefix.length);
  return text?.endsWith('%') ? (total * Number(text.slice(0, -1))) / 100 : (parseQuantity(text) ?? 0);
}

/**
 * EKS' bootstrap of Windows reserves no memory (containers-roadmap#481), so a node only has the eviction threshold of its kubelet: 500 MiB on Windows since
 * Kubernetes 1.31 (kubernetes#122922, pkg/kubelet/eviction/defaults_windows.go), 100 MiB before.
 */
function evictionThresholdMiB(version: string): number {
  return Number(/^v1\.(\d+)/.exec(version)?.[1] ?? 0) >= 31 ? 500 : 100;
}

// containerd reports its handlers since version 2.
function runtimeHandlers(cloud: LocalAwsState, instance: InstanceRecord) {
  const runtime = releaseOf(cloud, instance.releaseVersion)?.containerRuntimeVersion ?? '';
  return runtime.startsWith('containerd://2.')
    ? { runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-process' }] }
    : {};
}
