import type { ErrorDetail, Nodegroup } from '@aws-sdk/client-eks';
import { livingInstances } from '../ec2/instances.ts';
import { userDataFault } from '../ec2/mergedUserData.ts';
import type { GroupRecord, InstanceRecord, Rollout, Target, UpdateFailure } from '../records.ts';
import type { LocalAwsState } from '../state.ts';

/** Whether a group already has the target of an update. */
export function changesNothing(nodegroup: Nodegroup, target: Target): boolean {
  const { version, releaseVersion, launchTemplate } = { ...nodegroup, ...target };
  return (
    version === nodegroup.version &&
    releaseVersion === nodegroup.releaseVersion &&
    launchTemplate?.version === nodegroup.launchTemplate?.version
  );
}

/** The number of zones of a group's subnets. */
export function zonesOf(cloud: LocalAwsState, group: GroupRecord): number {
  const subnets = cloud.subnets.filter(({ id }) => group.nodegroup.subnets?.includes(id));
  return new Set(subnets.map(({ zone }) => zone)).size;
}

/** How many nodes are replaced at a time: a count, or a share of the desired size; from 1 to 100. */
export function parallelOf({ nodegroup: { updateConfig = {}, scalingConfig } }: GroupRecord): number {
  const { maxUnavailable, maxUnavailablePercentage } = updateConfig;
  const share = Math.floor(((scalingConfig?.desiredSize ?? 0) * (maxUnavailablePercentage ?? 0)) / 100);
  return Math.min(100, Math.max(1, maxUnavailable ?? share));
}

/** The error of an update whose nodes could not be launched or don't join. */
export function joinError(cloud: LocalAwsState, group: GroupRecord, { outdated }: Rollout): ErrorDetail {
  const { launchIssue } = group;
  if (launchIssue?.code === 'InsufficientFreeAddresses') {
    const { message = '', resourceIds = [] } = launchIssue;
    return { errorCode: 'InsufficientFreeAddresses', errorMessage: message, resourceIds };
  }
  const fresh = livingInstances(cloud, group.name).filter(({ id }) => !outdated.has(id));
  const absent = fresh.filter(({ joined, defect }) => !joined || defect.notReady === true).map(({ id }) => id);
  // Seen.
  const errorMessage = `Couldn't proceed with upgrade process as new nodes are not joining node group ${group.name}`;
  return { errorCode: 'NodeCreationFailure', errorMessage, resourceIds: absent };
}

/** The error of an update when pods stay on a node for too long. It names the node, not the pods. */
export const podError = (group: GroupRecord, instance: InstanceRecord): ErrorDetail => ({
  errorCode: 'PodEvictionFailure',
  // Seen.
  errorMessage: `Reached max retries while trying to evict pods from nodes in node group ${group.name}`,
  resourceIds: [instance.nodeName],
});

/** The failure of an update to a template with user data that EKS cannot merge. The code was seen for Linux: hashicorp/terraform-provider-aws#15007. */
export function templateError({ template }: Pick<Rollout, 'template'>): Omit<UpdateFailure, 'group'> | undefined {
  const errorMessage = userDataFault(template?.data);
  return errorMessage === undefined ? undefined : { errors: [{ errorCode: 'Unknown', errorMessage }] };
}
