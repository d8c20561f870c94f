/** The health issues that EKS reports for a node group, and their remedies. */
import { type HealthCode, type HealthIssue, isHealthCode } from '../../ports/eks.ts';
import { joined, sentence } from '../../util/words.ts';

/** The remedy for each code: a code without one does not compile. */
const remedies: Readonly<Record<HealthCode, string>> = {
  AccessDenied: 'Check the access entry of the node role, or its groups in aws-auth.',
  AmiIdNotFound: 'Set an AMI in the launch template that exists in this region and is shared with this account.',
  AsgInstanceLaunchFailures: 'Look at the activity of the Auto Scaling group: it tells why EC2 launches nothing.',
  AutoScalingGroupInstanceRefreshActive:
    'Cancel the instance refresh of the Auto Scaling group, or wait until it ends.',
  AutoScalingGroupInvalidConfiguration:
    'Compare the Auto Scaling group with the node group, and undo what was changed in it.',
  AutoScalingGroupNotFound: 'Somebody deleted the Auto Scaling group: delete the pool and make it again.',
  AutoScalingGroupOptInRequired: 'Enable the region or the local zone of the subnets for this account.',
  AutoScalingGroupRateLimitExceeded:
    'Wait: EKS tries again. If it lasts, request a higher rate limit of EC2 Auto Scaling.',
  ClusterUnreachable: 'Check the endpoint access of the cluster and the routes of the subnets.',
  Ec2InstanceTypeDoesNotExist: 'Choose instance types that exist in this region.',
  Ec2LaunchTemplateDeletionFailure: 'Delete the launch template that EKS created for the node group.',
  Ec2LaunchTemplateInvalidConfiguration: 'Correct the launch template, and pin its new version.',
  Ec2LaunchTemplateMaxLimitExceeded: 'Delete launch templates that nobody uses, or request a higher quota.',
  Ec2LaunchTemplateNotFound: 'Somebody deleted the launch template of EKS: delete the pool and make it again.',
  Ec2LaunchTemplateVersionMaxLimitExceeded: 'Delete old versions of the launch template, or request a higher quota.',
  Ec2LaunchTemplateVersionMismatch: 'Give the Auto Scaling group back the launch template version that EKS made.',
  Ec2SecurityGroupDeletionFailure: 'Take away what still uses the security group.',
  Ec2SecurityGroupNotFound: 'Create the security group again under a new ID, and set it in the launch template.',
  Ec2SubnetInvalidConfiguration: 'Let the subnets assign public addresses, or give them a route through a NAT gateway.',
  Ec2SubnetListTooLong: 'Use fewer subnets.',
  Ec2SubnetMissingIpv6Assignment: 'Enable the assignment of IPv6 addresses in the subnets.',
  Ec2SubnetNotFound: 'Somebody deleted a subnet: create a pool in subnets that exist.',
  IamInstanceProfileNotFound: 'Make the instance profile again under its name.',
  IamLimitExceeded: 'Request a higher quota of IAM, or delete roles and instance profiles that nobody uses.',
  IamNodeRoleNotFound: 'Make the node role again under its name.',
  IamThrottling: 'Wait: EKS tries again. Find what calls IAM so often in this account.',
  InstanceLimitExceeded: 'Ask AWS for a higher quota of instances, or lower scaling.max.',
  InsufficientFreeAddresses: 'Free addresses in the subnets, or lower scaling.max.',
  InternalFailure: 'Wait: EKS tries again. If it lasts, open a case with AWS Support.',
  KubernetesLabelInvalid: 'Correct the labels of the pool.',
  LimitExceeded: 'Request a higher quota of what EKS names.',
  NodeCreationFailure: 'Check the policies of the node role and the way of the subnets to the cluster.',
  NodeTerminationFailure: 'Terminate the instances that EKS names.',
  PodEvictionFailure: 'Relax the PodDisruptionBudgets of the pods that stay, or delete these pods.',
  SourceEc2LaunchTemplateNotFound: 'Somebody deleted the launch template: create another one, and a pool that uses it.',
  Unknown: 'Check the Auto Scaling group and EC2. If the issue lasts, open a case with AWS Support.',
};

/** The health issues in the words of EKS. */
export function describeIssues({ healthIssues }: { readonly healthIssues: readonly HealthIssue[] }): string {
  if (healthIssues.length === 0) return 'EKS gives no reason.';
  return healthIssues
    .map(({ code, message, resourceIds }) =>
      sentence(`${code}: ${message}${resourceIds.length > 0 ? ` (${joined(resourceIds)})` : ''}`),
    )
    .join(' ');
}

/** The remedies for the issues, without duplicates. EKS evaluates the group's health again automatically. */
export function remediesFor({ healthIssues }: { readonly healthIssues: readonly HealthIssue[] }): string {
  const found = new Set(healthIssues.map(({ code }) => (isHealthCode(code) ? remedies[code] : 'Mend what EKS names.')));
  return found.size === 0 ? '' : ` ${[...found].join(' ')}`;
}
