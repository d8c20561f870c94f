import type { Issue } from '@aws-sdk/client-eks';
import type { SubnetRecord } from '../network.ts';
import type { GroupRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { isLaunchable, isPublic } from './images.ts';
import { zonesOffering } from './instanceTypeQueries.ts';
import { launchConfigOf } from './launchConfig.ts';

/** The instance type and the subnet of the next launch. */
export interface Place {
  readonly type: string;
  readonly subnet: SubnetRecord;
}

/**
 * Where the Auto Scaling group launches its next instance: it balances its zones, and takes the first of its types
 * that a zone with free addresses offers. If there is none, the health issue that EKS reports.
 */
export function placeFor(cloud: LocalAwsState, group: GroupRecord): Place | Issue {
  const { subnets: ids = [] } = group.nodegroup;
  const launch = launchConfigOf(cloud, group);
  const { instanceTypes, releaseVersion, imageId, isCustom, securityGroups, rootVolumeGiB, imageGiB } = launch;
  if (isCustom ? !isLaunchable(cloud, imageId) : !isPublic(cloud, releaseVersion)) return notAuthorized(group, imageId);
  const missing = securityGroups.find((id) => !cloud.securityGroups.has(id));
  if (missing !== undefined) return noSecurityGroup(group, missing);
  if (rootVolumeGiB !== undefined && rootVolumeGiB < imageGiB) return tooSmall(group, rootVolumeGiB, imageGiB);
  const subnets = cloud.subnets.filter(({ id }) => ids.includes(id));
  const offering = (type: string) => subnets.filter(({ zone }) => zonesOffering(cloud, type).includes(zone));
  const used = (id: string) =>
    [...cloud.instances.values()].filter(
      ({ group: owner, state, subnet }) => owner === group.name && state !== 'terminated' && subnet.id === id,
    ).length;
  for (const type of instanceTypes) {
    const [subnet] = offering(type)
      .filter(({ freeAddresses }) => freeAddresses > 0)
      .sort((a, b) => used(a.id) - used(b.id) || a.id.localeCompare(b.id));
    if (subnet !== undefined) return { type, subnet };
  }
  return instanceTypes.some((type) => offering(type).length > 0)
    ? noFreeAddress(ids)
    : notOffered(group, instanceTypes, subnets);
}

// The meaning is that of the user guide.
const noFreeAddress = (subnets: readonly string[]): Issue => ({
  code: 'InsufficientFreeAddresses',
  message:
    'One or more of the subnets associated with your managed node group do not have enough available IP addresses for new nodes',
  resourceIds: [...subnets],
});

// A message of EC2, seen.
const notOffered = (group: GroupRecord, types: readonly string[], subnets: readonly SubnetRecord[]): Issue => ({
  code: 'AsgInstanceLaunchFailures',
  message:
    `Could not launch On-Demand Instances. Unsupported - Your requested instance type (${types[0]}) is not supported in ` +
    `your requested Availability Zone (${subnets.map(({ zone }) => zone).join(', ')}). Launching EC2 instance failed.`,
  resourceIds: [group.autoScalingGroup],
});

// Messages of EC2, both seen.
const noSecurityGroup = (group: GroupRecord, id: string): Issue => ({
  code: 'AsgInstanceLaunchFailures',
  message: `Could not launch On-Demand Instances. InvalidGroup.NotFound - The security group '${id}' does not exist. Launching EC2 instance failed.`,
  resourceIds: [group.autoScalingGroup],
});

const tooSmall = (group: GroupRecord, size: number, least: number): Issue => ({
  code: 'AsgInstanceLaunchFailures',
  message:
    `Could not launch On-Demand Instances. InvalidBlockDeviceMapping - Volume of size ${size}GB is smaller than snapshot ` +
    `'snap-0123456789abcdef0', expect size >= ${least}GB. Launching EC2 instance failed.`,
  resourceIds: [group.autoScalingGroup],
});

const notAuthorized = (group: GroupRecord, imageId: string): Issue => ({
  code: 'AsgInstanceLaunchFailures',
  message: `Could not launch On-Demand Instances. AuthFailure - Not authorized for images: [${imageId}]. Launching EC2 instance failed.`,
  resourceIds: [group.autoScalingGroup],
});
