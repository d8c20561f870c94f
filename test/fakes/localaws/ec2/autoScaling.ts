/*
 * Auto Scaling groups. Each node group has one, whose sizes are those of the group's scaling configuration, plus the instances that a rollout
 * adds. EKS reports the desired size that an autoscaler sets: seen in clients of both.
 */
import type {
  Activity,
  ActivityType,
  AutoScalingGroup,
  AutoScalingGroupNamesType,
  AutoScalingGroupsType,
  Filter,
  Instance,
  SetDesiredCapacityType,
  TerminateInstanceInAutoScalingGroupType,
} from '@aws-sdk/client-auto-scaling';
import { AwsFault } from '../awsFault.ts';
import type { GroupRecord, InstanceRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { autoScalingGroup, pageOfRecords, tagsOfGroup, validationError } from './autoScalingTags.ts';
import { runningInstances, warmInstances } from './instances.ts';
import { launchConfigOf } from './launchConfig.ts';
import { templateNamed } from './launchTemplates.ts';
import { follow, takeOutOfService } from './terminateInstance.ts';
import { describeWarmPool, reusesInstances } from './warmPool.ts';

/** DescribeAutoScalingGroups: by names or by filters on tags; an unknown name is not an error. */
export function describeAutoScalingGroups(
  cloud: LocalAwsState,
  request: AutoScalingGroupNamesType,
): AutoScalingGroupsType {
  const { AutoScalingGroupNames: names = [], Filters: filters = [], IncludeInstances = true } = request;
  const all = [...cloud.groups.values()]
    .filter(({ autoScalingGroup: name }) => names.length === 0 || names.includes(name))
    .filter((group) => filters.every((filter) => fitsFilter(cloud, group, filter)))
    .map((group) => describe(cloud, group, IncludeInstances));
  const page = pageOfRecords(all, request);
  return { AutoScalingGroups: page.items, ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }) };
}

/** SetDesiredCapacity, as an autoscaler uses it: within the group's bounds. */
export function setDesiredCapacity(
  cloud: LocalAwsState,
  { AutoScalingGroupName, DesiredCapacity: capacity = 0 }: SetDesiredCapacityType,
): Record<string, never> {
  const group = autoScalingGroup(cloud, AutoScalingGroupName);
  const { min, max } = sizesOf(group);
  // Seen, the first.
  if (capacity > max)
    throw validationError(
      `New SetDesiredCapacity value ${capacity} is above max value ${max} for the AutoScalingGroup.`,
    );
  if (capacity < min)
    throw validationError(
      `New SetDesiredCapacity value ${capacity} is below min value ${min} for the AutoScalingGroup.`,
    );
  setDesired(group, capacity);
  follow(cloud, group);
  return {};
}

/** TerminateInstanceInAutoScalingGroup: the group shrinks by that instance, or launches another one. */
export function terminateInGroup(
  cloud: LocalAwsState,
  { InstanceId: id = '', ShouldDecrementDesiredCapacity: shrink }: TerminateInstanceInAutoScalingGroupType,
): ActivityType {
  const instance = cloud.instances.get(id);
  const group = cloud.groups.get(instance?.group ?? '');
  if (instance === undefined || instance.state === 'terminated' || group === undefined)
    throw validationError(`Instance Id not found - No managed instance found for instance ID: ${id}`);
  if (instance.terminating !== undefined && cloud.switches.repeatedTermination === 'refuse')
    throw new AwsFault('ScalingActivityInProgressFault', `Activity ${cloud.nextUuid()} is in progress.`);
  const { min, desired } = sizesOf(group);
  if (shrink === true) {
    // Seen.
    if (desired <= min)
      throw validationError(
        `Currently, desiredSize equals minSize (${min}). Terminating instance without replacement will violate group's min ` +
          "size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.",
      );
    setDesired(group, desired - 1);
  }
  if (shrink === true && reusesInstances(group)) instance.returns = true;
  if (instance.terminating === undefined) takeOutOfService(cloud, group, instance);
  else follow(cloud, group);
  return { Activity: activityOf(cloud, group, instance) };
}

/** The sizes of an Auto Scaling group. */
export function sizesOf({ nodegroup: { scalingConfig }, growth }: GroupRecord) {
  const { minSize = 0, maxSize = 0, desiredSize = 0 } = scalingConfig ?? {};
  return { min: minSize, max: maxSize + growth, desired: desiredSize + growth };
}

/** Sets the desired capacity, which the instances do not follow yet. */
export function setDesired(group: GroupRecord, desired: number): void {
  const desiredSize = Math.max(0, desired - group.growth);
  group.nodegroup.scalingConfig = { ...group.nodegroup.scalingConfig, desiredSize };
}

const uuidOf = ({ nodegroup }: GroupRecord): string => nodegroup.nodegroupArn?.split('/').at(-1) ?? '';

/** `arn:aws:autoscaling:<region>:<account>:autoScalingGroup:<uuid>:autoScalingGroupName/<name>` */
export const autoScalingArn = ({ cluster: { region, accountId } }: LocalAwsState, group: GroupRecord): string =>
  `arn:aws:autoscaling:${region}:${accountId}:autoScalingGroup:${uuidOf(group)}:autoScalingGroupName/${group.autoScalingGroup}`;

function describe(cloud: LocalAwsState, group: GroupRecord, withInstances: boolean): AutoScalingGroup {
  const { min, max, desired } = sizesOf(group);
  const subnets = cloud.subnets.filter(({ id }) => group.nodegroup.subnets?.includes(id));
  const template = templateNamed(cloud, `eks-${uuidOf(group)}`);
  const LaunchTemplateSpecification = {
    LaunchTemplateId: template?.id,
    LaunchTemplateName: template?.name,
    Version: String(template?.versions.at(-1)?.number),
  };
  const { instanceTypes } = launchConfigOf(cloud, group);
  const warm = warmInstances(cloud, group.name);
  const listed = cloud.switches.warmInstances === 'listed' ? warm : [];
  const instances = withInstances ? [...runningInstances(cloud, group.name), ...listed] : [];
  return {
    AutoScalingGroupName: group.autoScalingGroup,
    AutoScalingGroupARN: autoScalingArn(cloud, group),
    MixedInstancesPolicy: {
      LaunchTemplate: {
        LaunchTemplateSpecification,
        Overrides: instanceTypes.map((InstanceType) => ({ InstanceType })),
      },
    },
    MinSize: min,
    MaxSize: max,
    DesiredCapacity: desired,
    DefaultCooldown: 300,
    AvailabilityZones: subnets.map(({ zone }) => zone),
    HealthCheckType: 'EC2',
    HealthCheckGracePeriod: 15,
    Instances: instances.map((instance) => instanceOf(instance)),
    ...describeWarmPool(cloud, group),
    CreatedTime: group.nodegroup.createdAt,
    VPCZoneIdentifier: subnets.map(({ id }) => id).join(','),
    ...(group.nodegroup.status === 'DELETING' ? { Status: 'Delete in progress' } : {}),
    Tags: tagsOfGroup(cloud, group),
    TerminationPolicies: ['AllocationStrategy', 'OldestLaunchTemplate', 'OldestInstance'],
    NewInstancesProtectedFromScaleIn: false,
  };
}

const instanceOf = ({ id, type, subnet, state, terminating, imageId, warm }: InstanceRecord): Instance => ({
  InstanceId: id,
  InstanceType: type,
  AvailabilityZone: subnet.zone,
  LifecycleState: warm ? `Warmed:${warm}` : (terminating ?? (state === 'running' ? 'InService' : 'Pending')),
  HealthStatus: 'Healthy',
  ImageId: imageId,
  ProtectedFromScaleIn: false,
});

function activityOf(cloud: LocalAwsState, group: GroupRecord, { id }: InstanceRecord): Activity {
  const now = cloud.timeline.now();
  return {
    ActivityId: cloud.nextUuid(),
    AutoScalingGroupName: group.autoScalingGroup,
    Description: `Terminating EC2 instance: ${id}`,
    Cause: `At ${now.toISOString()} instance ${id} was taken out of service in response to a user request.`,
    StartTime: now,
    StatusCode: 'InProgress',
    Progress: 0,
  };
}

function fitsFilter(cloud: LocalAwsState, group: GroupRecord, { Name = '', Values = [] }: Filter): boolean {
  const tags = tagsOfGroup(cloud, group);
  if (Name === 'tag-key') return tags.some(({ Key = '' }) => Values.includes(Key));
  if (Name === 'tag-value') return tags.some(({ Value = '' }) => Values.includes(Value));
  if (Name.startsWith('tag:'))
    return tags.some(({ Key, Value = '' }) => Name === `tag:${Key}` && Values.includes(Value));
  throw validationError(`Filter type ${Name} is not correct. Allowed Filter types are: tag-key, tag-value, tag:<key>`);
}
