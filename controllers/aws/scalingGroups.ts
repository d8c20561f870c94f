/** The port ScalingGroups on EC2 Auto Scaling: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html */
import type { AutoScalingGroup, Instance } from '@aws-sdk/client-auto-scaling';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { ScalingGroup, ScalingGroups } from '../windowspool/ports/ec2.ts';
import type { AutoScalingCall } from './calls.ts';
import type { Members } from './instances.ts';
import { readPages } from './pages.ts';
import { done, mapped } from './results.ts';
import { createScalingGroupTags } from './scalingGroupTags.ts';

/** A page has at most 100 groups, and a cluster a few hundred node groups. */
const PAGE_SIZE = 100;
const MOST_PAGES = 20;

/**
 * Lifecycle states of members. Excludes `Warmed:*`, the states of a warm pool, and `Detached`.
 * https://docs.aws.amazon.com/autoscaling/ec2/userguide/warm-pool-instance-lifecycle.html
 */
const MEMBER = /^(?:InService|Pending|Terminating|EnteringStandby|Standby|Detaching)(?::|$)/;

/** The ids of instances in a group, including terminating ones. Instances of its warm pool are not members, although they have its tag. */
export function membersOf(autoScaling: AutoScalingCall): Members {
  return async (group, signal) => mapped(await instancesOf(autoScaling, group, signal), membersAmong);
}

export function createScalingGroups(clusterName: string, autoScaling: AutoScalingCall): ScalingGroups {
  return {
    list: async (signal) => {
      const read = (token: string | undefined) => {
        const input = {
          // EKS tags the scaling group of every managed node group.
          Filters: [{ Name: 'tag:eks:cluster-name', Values: [clusterName] }],
          IncludeInstances: true,
          MaxRecords: PAGE_SIZE,
          ...(token && { NextToken: token }),
        };
        return autoScaling('DescribeAutoScalingGroups', input, signal);
      };
      const pages = await readPages('DescribeAutoScalingGroups', MOST_PAGES, read, ({ NextToken }) => NextToken);
      return mapped(pages, (all) =>
        Object.fromEntries(all.flatMap(({ AutoScalingGroups = [] }) => AutoScalingGroups.map(fromAutoScaling))),
      );
    },
    ...createScalingGroupTags(autoScaling),
    lifecycleOf: async (group, instance, signal) =>
      mapped(
        await instancesOf(autoScaling, group, signal),
        (all) => all.find(({ InstanceId }) => InstanceId === instance)?.LifecycleState,
      ),
    terminateInstance: async (instance, shrink, signal) => {
      const input = { InstanceId: instance, ShouldDecrementDesiredCapacity: shrink };
      return done(await autoScaling('TerminateInstanceInAutoScalingGroup', input, signal));
    },
  };
}

async function instancesOf(
  autoScaling: AutoScalingCall,
  group: string,
  signal: AbortSignal,
): Promise<CallResult<readonly Instance[]>> {
  const input = { AutoScalingGroupNames: [group], IncludeInstances: true };
  const result = await autoScaling('DescribeAutoScalingGroups', input, signal);
  return mapped(result, ({ AutoScalingGroups = [] }) => AutoScalingGroups.flatMap(({ Instances = [] }) => Instances));
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
