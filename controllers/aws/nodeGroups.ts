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
  type VersionChange,
  type WarmPool,
} from '../windowspool/ports/eks.ts';
import type { Taint, TaintEffect } from '../windowspool/ports/nodes.ts';
import { ClusterCalls, isAbsent } from './clusterCalls.ts';
import { malformed } from './errors.ts';
import { readPages } from './pages.ts';

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
export class EksNodeGroups extends ClusterCalls implements NodeGroups {
  async describe(name: string, signal: AbortSignal): Promise<CallResult<NodeGroup | undefined>> {
    const result = await this.call('DescribeNodegroup', this.#named(name), signal);
    // A proxy's `200 {}` does not say that the group is gone.
    if (result.ok) return complete('DescribeNodegroup', result.value.nodegroup, fromEks);
    return isAbsent(result.error) ? { ok: true, value: undefined } : result;
  }

  async create(desired: NewNodeGroup, token: string, signal: AbortSignal): Promise<CallResult<NodeGroup>> {
    const input = { ...createRequest(this.clusterName, desired), clientRequestToken: token };
    const result = await this.call('CreateNodegroup', input, signal);
    return result.ok ? complete('CreateNodegroup', result.value.nodegroup, fromEks) : result;
  }

  async names(signal: AbortSignal): Promise<CallResult<readonly string[]>> {
    const read = (nextToken: string | undefined) =>
      this.call('ListNodegroups', { clusterName: this.clusterName, ...(nextToken && { nextToken }) }, signal);
    const pages = await readPages('ListNodegroups', MOST_PAGES, read, ({ nextToken }) => nextToken);
    return pages.ok ? { ok: true, value: pages.value.flatMap(({ nodegroups = [] }) => nodegroups) } : pages;
  }

  async updateConfig(
    name: string,
    { labels, taints, scaling, update: settings, warmPool }: ConfigChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>> {
    const input = {
      ...this.#named(name),
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
      ...(scaling && {
        scalingConfig: {
          ...(scaling.minSize !== undefined && { minSize: scaling.minSize }),
          ...(scaling.maxSize !== undefined && { maxSize: scaling.maxSize }),
          ...(scaling.desiredSize !== undefined && { desiredSize: scaling.desiredSize }),
        },
      }),
      ...(settings && { updateConfig: toEksUpdate(settings) }),
      ...(warmPool && { warmPoolConfig: warmPool === 'Removed' ? { enabled: false } : toEksWarmPool(warmPool) }),
      clientRequestToken: token,
    };
    const result = await this.call('UpdateNodegroupConfig', input, signal);
    return result.ok ? complete('UpdateNodegroupConfig', result.value.update, updateFromEks) : result;
  }

  async updateVersion(
    name: string,
    { kubernetesVersion, releaseVersion, launchTemplate, force }: VersionChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>> {
    const input = {
      ...this.#named(name),
      ...(kubernetesVersion && { version: kubernetesVersion }),
      ...(releaseVersion && { releaseVersion }),
      ...(launchTemplate && { launchTemplate: { ...launchTemplate } }),
      force,
      clientRequestToken: token,
    };
    const result = await this.call('UpdateNodegroupVersion', input, signal);
    return result.ok ? complete('UpdateNodegroupVersion', result.value.update, updateFromEks) : result;
  }

  async describeUpdate(
    name: string,
    id: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate | undefined>> {
    const result = await this.call(
      'DescribeUpdate',
      { name: this.clusterName, nodegroupName: name, updateId: id },
      signal,
    );
    if (!result.ok && result.error.kind === 'gone') return { ok: true, value: undefined };
    return result.ok ? complete('DescribeUpdate', result.value.update, updateFromEks) : result;
  }

  async delete(name: string, signal: AbortSignal): Promise<CallResult<void>> {
    const result = await this.call('DeleteNodegroup', this.#named(name), signal);
    if (!result.ok && result.error.kind === 'gone') return { ok: true, value: undefined };
    return mapped(result, () => undefined);
  }

  async tag(arn: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>> {
    return mapped(await this.call('TagResource', { resourceArn: arn, tags: { ...tags } }, signal), () => undefined);
  }

  async untag(arn: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>> {
    return mapped(await this.call('UntagResource', { resourceArn: arn, tagKeys: [...keys] }, signal), () => undefined);
  }

  #named(nodegroupName: string): { clusterName: string; nodegroupName: string } {
    return { clusterName: this.clusterName, nodegroupName };
  }
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
    scalingConfig: {
      minSize: desired.scaling.minSize,
      maxSize: desired.scaling.maxSize,
      desiredSize: desired.scaling.desiredSize,
    },
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

function mapped<T, U>(result: CallResult<T>, map: (value: T) => U): CallResult<U> {
  return result.ok ? { ok: true, value: map(result.value) } : result;
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
