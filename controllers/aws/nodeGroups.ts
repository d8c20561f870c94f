/** The port NodeGroups on EKS: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html */
import type {
  Taint as EksTaint,
  LaunchTemplateSpecification,
  Nodegroup,
  NodegroupUpdateConfig,
  Update,
  WarmPoolConfig,
  WarmPoolState,
} from '@aws-sdk/client-eks';
import { type CallResult, scrub } from '../windowspool/ports/callResult.ts';
import {
  type ConfigChange,
  CUSTOM,
  type NewNodeGroup,
  type NodeGroup,
  type NodeGroupStatus,
  type NodeGroups,
  type NodeGroupUpdate,
  type UpdateSettings,
  type WarmPool,
} from '../windowspool/ports/eks.ts';
import type { Taint, TaintEffect } from '../windowspool/ports/nodes.ts';
import type { EksCall } from './calls.ts';
import { malformed } from './errors.ts';
import { readPages } from './pages.ts';
import { done, mapped, unlessAbsent, unlessGone } from './results.ts';

/** A page has 100 names, and a cluster 30 groups by default: https://docs.aws.amazon.com/eks/latest/APIReference/API_ListNodegroups.html */
const MOST_PAGES = 20;

/** Taint effects in EKS' spelling; EKS rejects that of Kubernetes. */
const EFFECTS = { NoSchedule: 'NO_SCHEDULE', NoExecute: 'NO_EXECUTE', PreferNoSchedule: 'PREFER_NO_SCHEDULE' } as const;

/** States of warm pools in EKS' spelling. */
const POOL_STATES = { Stopped: 'STOPPED', Running: 'RUNNING', Hibernated: 'HIBERNATED' } as const satisfies Record<
  WarmPool['poolState'],
  WarmPoolState
>;

/** The node groups of one EKS cluster. */
export function createNodeGroups(clusterName: string, eks: EksCall): NodeGroups {
  return {
    describe: async (nodegroupName, signal) => {
      const result = unlessAbsent(await eks('DescribeNodegroup', { clusterName, nodegroupName }, signal));
      if (!result.ok) return result;
      // A proxy's `200 {}` does not say that the group is gone.
      return result.value
        ? complete('DescribeNodegroup', result.value.nodegroup, fromEks)
        : { ok: true, value: undefined };
    },
    create: async (desired, clientRequestToken, signal) => {
      const input = { ...createRequest(clusterName, desired), clientRequestToken };
      const result = await eks('CreateNodegroup', input, signal);
      return result.ok ? complete('CreateNodegroup', result.value.nodegroup, fromEks) : result;
    },
    names: async (signal) => {
      const read = (nextToken: string | undefined) =>
        eks('ListNodegroups', { clusterName, ...(nextToken && { nextToken }) }, signal);
      const pages = await readPages('ListNodegroups', MOST_PAGES, read, ({ nextToken }) => nextToken);
      return mapped(pages, (all) => all.flatMap(({ nodegroups = [] }) => nodegroups));
    },
    updateConfig: async (nodegroupName, change, clientRequestToken, signal) => {
      const input = { clusterName, nodegroupName, ...configRequest(change), clientRequestToken };
      const result = await eks('UpdateNodegroupConfig', input, signal);
      return result.ok ? complete('UpdateNodegroupConfig', result.value.update, updateFromEks) : result;
    },
    updateVersion: async (nodegroupName, change, clientRequestToken, signal) => {
      const { kubernetesVersion, releaseVersion, launchTemplate, force } = change;
      const input = {
        clusterName,
        nodegroupName,
        ...(kubernetesVersion && { version: kubernetesVersion }),
        ...(releaseVersion && { releaseVersion }),
        ...(launchTemplate && { launchTemplate: { ...launchTemplate } }),
        force,
        clientRequestToken,
      };
      const result = await eks('UpdateNodegroupVersion', input, signal);
      return result.ok ? complete('UpdateNodegroupVersion', result.value.update, updateFromEks) : result;
    },
    describeUpdate: async (nodegroupName, updateId, signal) => {
      const result = unlessGone(await eks('DescribeUpdate', { name: clusterName, nodegroupName, updateId }, signal));
      if (!result.ok) return result;
      return result.value
        ? complete('DescribeUpdate', result.value.update, updateFromEks)
        : { ok: true, value: undefined };
    },
    delete: async (nodegroupName, signal) =>
      done(unlessGone(await eks('DeleteNodegroup', { clusterName, nodegroupName }, signal))),
    tag: async (resourceArn, tags, signal) =>
      done(await eks('TagResource', { resourceArn, tags: { ...tags } }, signal)),
    untag: async (resourceArn, keys, signal) =>
      done(await eks('UntagResource', { resourceArn, tagKeys: [...keys] }, signal)),
  };
}

function configRequest({ labels, taints, scaling, update, warmPool }: ConfigChange) {
  return {
    ...(labels && {
      labels: {
        ...(Object.keys(labels.set).length > 0 && { addOrUpdateLabels: { ...labels.set } }),
        ...(labels.remove.length > 0 && { removeLabels: [...labels.remove] }),
      },
    }),
    ...(taints && {
      taints: {
        ...(taints.set.length > 0 && { addOrUpdateTaints: taints.set.map(toEksTaint) }),
        ...(taints.remove.length > 0 && { removeTaints: taints.remove.map(toEksTaint) }),
      },
    }),
    ...(scaling && { scalingConfig: { ...scaling } }),
    ...(update && { updateConfig: toEksUpdate(update) }),
    ...(warmPool && { warmPoolConfig: warmPool === 'Removed' ? { enabled: false } : toEksWarmPool(warmPool) }),
  };
}

/** The request for a new group, without a token. */
export function createRequest(clusterName: string, desired: NewNodeGroup) {
  return {
    clusterName,
    nodegroupName: desired.name,
    // EKS knows it from the launch template.
    ...(desired.amiType !== CUSTOM && { amiType: desired.amiType as Nodegroup['amiType'] }),
    capacityType: desired.capacityType === 'Spot' ? ('SPOT' as const) : ('ON_DEMAND' as const),
    ...(desired.instanceTypes.length > 0 && { instanceTypes: [...desired.instanceTypes] }),
    subnets: [...desired.subnets],
    nodeRole: desired.nodeRoleArn,
    ...(desired.diskSizeGiB !== undefined && { diskSize: desired.diskSizeGiB }),
    ...(desired.launchTemplate && { launchTemplate: { ...desired.launchTemplate } }),
    scalingConfig: { ...desired.scaling },
    labels: { ...desired.labels },
    taints: desired.taints.map(toEksTaint),
    tags: { ...desired.tags },
    ...(desired.update && { updateConfig: toEksUpdate(desired.update) }),
    ...(desired.warmPool && { warmPoolConfig: toEksWarmPool(desired.warmPool) }),
    ...(desired.kubernetesVersion && { version: desired.kubernetesVersion }),
    ...(desired.releaseVersion && { releaseVersion: desired.releaseVersion }),
  };
}

/** Converts an object of a response. One without the object, or without what identifies it and its state, is an error, and not an absent object. */
function complete<T extends Nodegroup | Update, U>(
  operation: string,
  object: T | undefined,
  convert: (object: T) => U,
): CallResult<U> {
  const id = object && ('nodegroupName' in object ? object.nodegroupArn : (object as Update).id);
  return object?.status && id ? { ok: true, value: convert(object) } : { ok: false, error: malformed(operation) };
}

/** EKS has one field for a number and another for a percentage, and rejects both at once. */
function toEksUpdate({ maxUnavailable, strategy }: UpdateSettings): NodegroupUpdateConfig {
  const amount = Number.parseInt(maxUnavailable ?? '', 10);
  return {
    ...(maxUnavailable &&
      (maxUnavailable.endsWith('%') ? { maxUnavailablePercentage: amount } : { maxUnavailable: amount })),
    ...(strategy && { updateStrategy: strategy === 'Minimal' ? 'MINIMAL' : 'DEFAULT' }),
  };
}

function fromEksUpdate({
  maxUnavailable,
  maxUnavailablePercentage,
  updateStrategy,
}: NodegroupUpdateConfig): UpdateSettings {
  const amount = maxUnavailablePercentage === undefined ? maxUnavailable : `${maxUnavailablePercentage}%`;
  return {
    ...(amount !== undefined && { maxUnavailable: String(amount) }),
    strategy: updateStrategy === 'MINIMAL' ? 'Minimal' : 'Default',
  };
}

function toEksWarmPool({
  minSize,
  maxGroupPreparedCapacity: most,
  poolState,
  reuseOnScaleIn,
}: WarmPool): WarmPoolConfig {
  return {
    enabled: true,
    minSize,
    ...(most !== undefined && { maxGroupPreparedCapacity: most }),
    poolState: POOL_STATES[poolState],
    reuseOnScaleIn,
  };
}

/** The comments of the service model have the states as in `Stopped`, and its enum as in `STOPPED`. */
function fromEksWarmPool(config: WarmPoolConfig | undefined): WarmPool | undefined {
  if (!config || config.enabled === false) return undefined;
  const { minSize = 0, maxGroupPreparedCapacity: most = -1, poolState = '', reuseOnScaleIn = false } = config;
  const states = Object.keys(POOL_STATES) as WarmPool['poolState'][];
  return {
    minSize,
    // -1 is none in EC2 Auto Scaling, and the least that the CloudFormation resource of a node group accepts.
    maxGroupPreparedCapacity: most < 0 ? undefined : most,
    poolState: states.find((state) => POOL_STATES[state] === poolState.toUpperCase()) ?? 'Stopped',
    reuseOnScaleIn,
  };
}

function toEksTaint({ key, value, effect }: Taint): EksTaint {
  return { key, ...(value && { value }), effect: EFFECTS[effect] };
}

function fromEksTaint({ key = '', value, effect }: EksTaint): Taint {
  const [spelled] = (Object.keys(EFFECTS) as TaintEffect[]).filter((candidate) => EFFECTS[candidate] === effect);
  return { key, ...(value && { value }), effect: spelled ?? 'NoSchedule' };
}

/** Converts EKS' description to the domain's. Absent fields become empty. */
export function fromEks(group: Nodegroup): NodeGroup {
  const { minSize = 0, maxSize = 0, desiredSize = 0 } = group.scalingConfig ?? {};
  return {
    name: group.nodegroupName ?? '',
    arn: group.nodegroupArn ?? '',
    status: (group.status ?? 'CREATING') as NodeGroupStatus,
    amiType: group.amiType ?? '',
    capacityType: group.capacityType === 'SPOT' ? 'Spot' : 'OnDemand',
    instanceTypes: group.instanceTypes ?? [],
    subnets: group.subnets ?? [],
    nodeRoleArn: group.nodeRole ?? '',
    diskSizeGiB: group.diskSize,
    launchTemplate: group.launchTemplate && fromEksTemplate(group.launchTemplate),
    kubernetesVersion: group.version,
    releaseVersion: group.releaseVersion,
    scaling: { minSize, maxSize, desiredSize },
    labels: group.labels ?? {},
    taints: (group.taints ?? []).map(fromEksTaint),
    update: fromEksUpdate(group.updateConfig ?? {}),
    warmPool: fromEksWarmPool(group.warmPoolConfig),
    tags: Object.fromEntries(Object.entries(group.tags ?? {}).filter(([key]) => !key.startsWith('aws:'))),
    healthIssues: (group.health?.issues ?? []).map(({ code = 'Unknown', message = '', resourceIds = [] }) => ({
      code,
      message: scrub(message),
      resourceIds,
    })),
    autoScalingGroups: (group.resources?.autoScalingGroups ?? []).map(({ name = '' }) => name),
    createdAt: group.createdAt?.getTime() ?? 0,
    modifiedAt: (group.modifiedAt ?? group.createdAt)?.getTime() ?? 0,
  };
}

function fromEksTemplate({ id = '', name = '', version = '' }: LaunchTemplateSpecification) {
  return { id, name, version };
}

function updateFromEks(update: Update): NodeGroupUpdate {
  return {
    id: update.id ?? '',
    type: update.type ?? '',
    status: update.status ?? 'InProgress',
    createdAt: update.createdAt?.getTime() ?? 0,
    errors: (update.errors ?? []).map(({ errorCode = 'Unknown', errorMessage = '', resourceIds = [] }) => ({
      code: errorCode,
      message: scrub(errorMessage),
      resourceIds,
    })),
  };
}
