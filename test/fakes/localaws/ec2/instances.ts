import type { Nodegroup } from '@aws-sdk/client-eks';
import { durations } from '../durations.ts';
import { admissionOf, whenAdmitted } from '../eks/admission.ts';
import { isKubeletLabel, isKubernetesLabel } from '../eks/labels.ts';
import type { GroupRecord, InstanceRecord, NodeDefect } from '../records.ts';
import { buildOf, kernelOf, type Release, windowsOf, yearOf } from '../releases.ts';
import { type LocalAwsState, takePlan } from '../state.ts';
import { kubeletArgumentsIn } from './bootstrap.ts';
import { releaseOf } from './images.ts';
import { type LaunchConfig, launchConfigOf } from './launchConfig.ts';
import type { Place } from './placement.ts';
import { isAdmitted } from './securityGroups.ts';

/** The instances of a group that are not terminated, oldest first; also those that its Auto Scaling group has taken out of service. */
export const runningInstances = (cloud: LocalAwsState, group: string): InstanceRecord[] =>
  ofGroup(cloud, group).filter(({ warm }) => warm === undefined);

/** The instances in the warm pool of a group. */
export const warmInstances = (cloud: LocalAwsState, group: string): InstanceRecord[] =>
  ofGroup(cloud, group).filter(({ warm }) => warm !== undefined);

const ofGroup = (cloud: LocalAwsState, group: string): InstanceRecord[] =>
  [...cloud.instances.values()].filter((instance) => instance.group === group && instance.state !== 'terminated');

/** The running instances that are in service: an Auto Scaling group compares their number with its desired capacity. */
export const livingInstances = (cloud: LocalAwsState, group: string): InstanceRecord[] =>
  runningInstances(cloud, group).filter(({ terminating }) => terminating === undefined);

/** Terminates an instance: its Node is deleted, and EC2 forgets the instance some time later. */
export function terminate(cloud: LocalAwsState, instance: InstanceRecord): void {
  if (stop(cloud, instance)) cloud.emit({ kind: 'leave', instance });
}

/** Terminates an instance as `terminate` does, but its Node stays for `durations.lostNode`, not Ready. */
export function terminateUnderNode(cloud: LocalAwsState, instance: InstanceRecord): void {
  if (!stop(cloud, instance)) return;
  if (instance.joined) cloud.emit({ kind: 'lost', instance });
  cloud.timeline.after(durations.lostNode, () => cloud.emit({ kind: 'leave', instance }));
}

function stop(cloud: LocalAwsState, instance: InstanceRecord): boolean {
  if (instance.state === 'terminated') return false;
  instance.state = 'terminated';
  instance.drain?.abort();
  instance.subnet.freeAddresses += 1;
  cloud.timeline.after(durations.forgetInstance, () => cloud.instances.delete(instance.id));
  return true;
}

/** Launches an instance into service. */
export function launch(cloud: LocalAwsState, group: GroupRecord, place: Place): void {
  boot(cloud, group, addInstance(cloud, group, place), durations.boot);
}

/** Creates an instance, which takes an address. It does not boot yet. */
export function addInstance(cloud: LocalAwsState, group: GroupRecord, place: Place): InstanceRecord {
  const instance = newInstance(cloud, group, place);
  cloud.instances.set(instance.id, instance);
  instance.subnet.freeAddresses -= 1;
  return instance;
}

/** Starts an instance in so many seconds. Then its kubelet joins. */
export function boot(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord, seconds: number): void {
  if (instance.state === 'stopped') instance.state = 'pending';
  instance.starts += 1;
  const { starts } = instance;
  const { securityGroups } = launchConfigOf(cloud, group);
  // User guide of EKS: if the template has security groups, EKS does not add that of the cluster.
  const reachesControlPlane = securityGroups.length === 0 || isAdmitted(cloud, securityGroups);
  const isSame = () => instance.state !== 'terminated' && instance.starts === starts;
  cloud.timeline.after(seconds, () => {
    if (!isSame()) return;
    instance.state = 'running';
    if (instance.defect.neverJoins === true || !kubeletStarts(instance) || !reachesControlPlane) return;
    whenAdmitted(cloud, group, isSame, () => join(cloud, group, instance));
  });
}

/** Registers the node of an instance. One that already has a node reports that it is Ready again. */
export function join(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  const isBack = instance.joined;
  instance.joined = true;
  if (cloud.switches.linuxAccessEntry === 'notReady' && admissionOf(cloud, group.nodegroup.nodeRole) === 'linux') {
    instance.defect = { ...instance.defect, notReady: true };
  }
  if (instance.isCustom) joinCustom(cloud, group, instance);
  else if (cloud.switches.groupSettingsOnNodes === 'later') joinBare(cloud, group, instance);
  else cloud.emit({ kind: 'join', instance });
  if (isBack) {
    cloud.emit({ kind: 'ready', instance, ready: instance.defect.notReady !== true });
    cloud.emit({ kind: 'cordon', instance, on: false });
  }
  addressesFollow(cloud, instance);
}

// The node registers with what its user data says. EKS may add the labels and taints of the group a moment later.
function joinCustom(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  cloud.emit({ kind: 'join', instance });
  if (cloud.switches.settingsOfCustomNodes === 'never') return;
  const after = structuredClone(group.nodegroup);
  after.labels = { ...after.labels, 'eks.amazonaws.com/nodegroup': group.name };
  relabelLater(cloud, instance, after);
}

// The node registers without the labels and taints of its group; EKS adds them a moment later.
function joinBare(cloud: LocalAwsState, { nodegroup }: GroupRecord, instance: InstanceRecord): void {
  const after = structuredClone(nodegroup);
  const own = Object.entries(instance.nodeLabels).filter(([label]) => after.labels?.[label] === undefined);
  cloud.emit({
    kind: 'join',
    instance: { ...instance, nodeLabels: Object.fromEntries(own), registerWithTaints: [] },
  });
  relabelLater(cloud, instance, after);
}

function relabelLater(cloud: LocalAwsState, instance: InstanceRecord, after: Nodegroup): void {
  cloud.timeline.after(durations.lateSettings, () => {
    const { labels: _labels, taints: _taints, ...before } = after;
    if (instance.state === 'running' && instance.joined) cloud.emit({ kind: 'relabel', instance, before, after });
  });
}

/** Restarts an instance. Its kubelet reports its properties again, and registers again if its Node is gone. */
export function restart(cloud: LocalAwsState, instance: InstanceRecord): void {
  instance.boots += 1;
  cloud.emit({ kind: 'restart', instance });
  addressesFollow(cloud, instance);
}

function addressesFollow(cloud: LocalAwsState, instance: InstanceRecord): void {
  const { noPodAddresses, controllerWarning: reason } = instance.defect;
  if (noPodAddresses === true && reason === undefined) return;
  cloud.timeline.after(durations.podAddresses, () => {
    if (instance.state !== 'running' || !instance.joined) return;
    cloud.emit(
      reason === undefined ? { kind: 'podAddresses', instance } : { kind: 'controllerWarning', instance, reason },
    );
  });
}

// A kubelet refuses to start with labels under kubernetes.io or k8s.io that it does not know (--node-labels).
const kubeletStarts = ({ bootstraps, nodeLabels }: InstanceRecord): boolean =>
  bootstraps && Object.keys(nodeLabels).every((label) => !isKubernetesLabel(label) || isKubeletLabel(label));

/** An instance that is not launched yet. Default of `identity`: a new one. */
export function newInstance(
  cloud: LocalAwsState,
  group: GroupRecord,
  { type, subnet }: Place,
  identity: Identity = newIdentity(cloud, subnet),
): InstanceRecord {
  const launch = launchConfigOf(cloud, group);
  const { releaseVersion, amiType, imageId, tags, template, isCustom, ownUserData } = launch;
  const own = isCustom ? kubeletArgumentsIn(cloud, ownUserData) : undefined;
  const release = releaseOf(cloud, releaseVersion);
  const windows = windowsOf(amiType);
  const defect = takePlan(cloud.plans.nodes, group.name)?.defect ?? {};
  const measured = release === undefined || windows === undefined ? '' : kernelOf(release, windows.year);
  const kernelVersion = release === undefined ? measured : kernelWith(measured, defect, release);
  return {
    ...identity,
    group: group.name,
    autoScalingGroup: group.autoScalingGroup,
    type,
    subnet,
    imageId,
    tags,
    launchedAt: cloud.timeline.now(),
    defect,
    releaseVersion,
    nodeLabels: isCustom ? (own?.labels ?? {}) : nodeLabelsOf(group, imageId, template),
    registerWithTaints: structuredClone((isCustom ? own?.taints : group.nodegroup.taints) ?? []),
    isCustom,
    kubelet: own?.values ?? {},
    bootstraps: !launch.endsFirst && (!isCustom || own !== undefined),
    kernelVersion,
    boots: 1,
    starts: 0,
    state: 'pending',
    joined: false,
    drained: false,
  };
}

type Identity = Pick<InstanceRecord, 'id' | 'nodeName' | 'privateIp'>;

function newIdentity(cloud: LocalAwsState, { network }: Place['subnet']): Identity {
  const privateIp = freeAddress(cloud, network);
  const domain = cloud.cluster.region === 'us-east-1' ? 'ec2.internal' : `${cloud.cluster.region}.compute.internal`;
  return { id: cloud.nextId('i'), privateIp, nodeName: `ip-${privateIp.replaceAll('.', '-')}.${domain}` };
}

function nodeLabelsOf(
  { name, nodegroup }: GroupRecord,
  imageId: string,
  template: LaunchConfig['template'],
): Record<string, string> {
  const labels = {
    ...nodegroup.labels,
    'eks.amazonaws.com/nodegroup': name,
    'eks.amazonaws.com/nodegroup-image': imageId,
    'eks.amazonaws.com/capacityType': nodegroup.capacityType ?? 'ON_DEMAND',
  };
  if (template === undefined) return labels;
  return {
    ...labels,
    'eks.amazonaws.com/sourceLaunchTemplateId': template.id ?? '',
    'eks.amazonaws.com/sourceLaunchTemplateVersion': template.version ?? '',
  };
}

/** A kernel version with a defect in it. Another build has the revision of that build in the same release. */
export function kernelWith(measured: string, { kernelVersion, build, revision }: NodeDefect, release: Release): string {
  if (kernelVersion !== undefined) return kernelVersion;
  if (build === undefined) return revision === undefined ? measured : `${buildOf(measured)}.${revision}`;
  const year = yearOf(build);
  return `${build}.${revision ?? (year === undefined ? 1 : release.revisions[year])}`;
}

function freeAddress(cloud: LocalAwsState, network: number): string {
  // A VPC does not reuse the addresses of terminated instances at once either.
  const taken = new Set([...cloud.instances.values()].map(({ privateIp }) => privateIp));
  // A fleet larger than a /24 continues in the next 64 networks, for the benchmarks.
  for (let block = 0; block < 64; block += 1) {
    for (let host = 10; host < 255; host += 1) {
      const address = `10.${block}.${network}.${host}`;
      if (!taken.has(address)) return address;
    }
  }
  throw new Error(`no free address in network ${network}`);
}
