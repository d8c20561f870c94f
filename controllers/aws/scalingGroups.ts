/** The port ScalingGroups on EC2 Auto Scaling: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html */
import type { AutoScalingGroup, Instance } from '@aws-sdk/client-auto-scaling';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { ScalingGroup, ScalingGroups } from '../windowspool/ports/ec2.ts';
import type { AutoScalingCall, AutoScalingOperations } from './calls.ts';
import { readPages } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

/** A page has at most 100 groups, and a cluster a few hundred node groups. */
const PAGE_SIZE = 100;
const MOST_PAGES = 20;

const TYPE = 'auto-scaling-group';

/**
 * Lifecycle states of members. Excludes `Warmed:*`, the states of a warm pool, and `Detached`.
 * https://docs.aws.amazon.com/autoscaling/ec2/userguide/warm-pool-instance-lifecycle.html
 */
const MEMBER = /^(?:InService|Pending|Terminating|EnteringStandby|Standby|Detaching)(?::|$)/;

export class AutoScalingGroups implements ScalingGroups {
  readonly #clusterName: string;
  readonly #autoScaling: AutoScalingCall;
  readonly #limiter: AwsRateLimiter;

  constructor(clusterName: string, autoScaling: AutoScalingCall, limiter: AwsRateLimiter) {
    this.#clusterName = clusterName;
    this.#autoScaling = autoScaling;
    this.#limiter = limiter;
  }

  async list(signal: AbortSignal): Promise<CallResult<Readonly<Record<string, ScalingGroup>>>> {
    const read = (token: string | undefined) => {
      const input = {
        // EKS tags the scaling group of every managed node group.
        Filters: [{ Name: 'tag:eks:cluster-name', Values: [this.#clusterName] }],
        IncludeInstances: true,
        MaxRecords: PAGE_SIZE,
        ...(token && { NextToken: token }),
      };
      return this.#call('DescribeAutoScalingGroups', input, signal);
    };
    const pages = await readPages('DescribeAutoScalingGroups', MOST_PAGES, read, ({ NextToken }) => NextToken);
    if (!pages.ok) return pages;
    const found = pages.value.flatMap(({ AutoScalingGroups = [] }) => AutoScalingGroups.map(fromAutoScaling));
    return { ok: true, value: Object.fromEntries(found) };
  }

  async setTags(group: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>> {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({
      ResourceId: group,
      ResourceType: TYPE,
      Key,
      Value,
      PropagateAtLaunch: false,
    }));
    return done(await this.#call('CreateOrUpdateTags', { Tags }, signal));
  }

  async removeTags(group: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>> {
    const Tags = keys.map((Key) => ({ ResourceId: group, ResourceType: TYPE, Key }));
    return done(await this.#call('DeleteTags', { Tags }, signal));
  }

  async lifecycleOf(group: string, instance: string, signal: AbortSignal): Promise<CallResult<string | undefined>> {
    const result = await this.#instancesOf(group, signal);
    if (!result.ok) return result;
    return { ok: true, value: result.value.find(({ InstanceId }) => InstanceId === instance)?.LifecycleState };
  }

  /** The ids of instances in the group, including terminating ones. Instances of its warm pool are not members, although they have its tag. */
  async members(group: string, signal: AbortSignal): Promise<CallResult<readonly string[]>> {
    const result = await this.#instancesOf(group, signal);
    if (!result.ok) return result;
    return { ok: true, value: membersAmong(result.value) };
  }

  async #instancesOf(group: string, signal: AbortSignal): Promise<CallResult<readonly Instance[]>> {
    const input = { AutoScalingGroupNames: [group], IncludeInstances: true };
    const result = await this.#call('DescribeAutoScalingGroups', input, signal);
    if (!result.ok) return result;
    return { ok: true, value: (result.value.AutoScalingGroups ?? []).flatMap(({ Instances = [] }) => Instances) };
  }

  async terminateInstance(instance: string, shrink: boolean, signal: AbortSignal): Promise<CallResult<void>> {
    const input = { InstanceId: instance, ShouldDecrementDesiredCapacity: shrink };
    return done(await this.#call('TerminateInstanceInAutoScalingGroup', input, signal));
  }

  #call<O extends keyof AutoScalingOperations>(
    operation: O,
    input: AutoScalingOperations[O][0],
    signal: AbortSignal,
  ): Promise<CallResult<AutoScalingOperations[O][1]>> {
    const call = (bounded: AbortSignal) => this.#autoScaling(operation, input, bounded);
    return this.#limiter.run('autoscaling', operation, call, signal);
  }
}

function fromAutoScaling(group: AutoScalingGroup): [name: string, group: ScalingGroup] {
  const { AutoScalingGroupName: name = '', Tags = [], Instances = [], WarmPoolSize: warmInstances = 0 } = group;
  const tags = Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
  const instances = membersAmong(Instances);
  return [name, { tags, instances, templateVersions: templateVersionsOf(group), warmInstances }];
}

/** The launch templates of a group and of its instances, each once: `lt-1 3`. EKS gives a group a copy of the template that its user names. */
function templateVersionsOf({ LaunchTemplate, MixedInstancesPolicy, Instances = [] }: AutoScalingGroup): string[] {
  const all = [
    LaunchTemplate,
    MixedInstancesPolicy?.LaunchTemplate?.LaunchTemplateSpecification,
    ...Instances.map(({ LaunchTemplate: used }) => used),
  ];
  return [...new Set(all.flatMap((used) => (used ? [`${used.LaunchTemplateId} ${used.Version}`] : [])))].sort();
}

function membersAmong(instances: readonly Instance[]): string[] {
  return instances
    .filter(({ LifecycleState = '' }) => MEMBER.test(LifecycleState))
    .flatMap(({ InstanceId = '' }) => InstanceId || []);
}

function done(result: CallResult<unknown>): CallResult<void> {
  return result.ok ? { ok: true, value: undefined } : result;
}
