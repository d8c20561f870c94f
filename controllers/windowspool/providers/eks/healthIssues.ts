/** What EKS says of a node group's health, and what to do about it. */
import type { HealthIssue } from '../../ports/eks.ts';
import { joined, sentence } from '../../words.ts';

/** Next moves by code: https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html */
const moves: ReadonlyMap<string, string> = new Map([
  ['AccessDenied', 'Check the access entry of the node role, or its groups in aws-auth.'],
  ['AsgInstanceLaunchFailures', 'Look at the activity of the Auto Scaling group: it tells why EC2 launches nothing.'],
  ['AutoScalingGroupNotFound', 'Somebody deleted the Auto Scaling group: delete the pool and make it again.'],
  ['ClusterUnreachable', 'Check the endpoint access of the cluster and the routes of the subnets.'],
  ['Ec2LaunchTemplateNotFound', 'Somebody deleted the launch template of EKS: delete the pool and make it again.'],
  ['Ec2LaunchTemplateVersionMismatch', 'Give the Auto Scaling group back the launch template version that EKS made.'],
  ['Ec2SecurityGroupDeletionFailure', 'Take away what still uses the security group.'],
  [
    'Ec2SubnetInvalidConfiguration',
    'Let the subnets assign public addresses, or give them a route through a NAT gateway.',
  ],
  ['IamInstanceProfileNotFound', 'Make the instance profile again under its name.'],
  ['IamNodeRoleNotFound', 'Make the node role again under its name.'],
  ['InstanceLimitExceeded', 'Ask AWS for a higher quota of instances, or lower scaling.max.'],
  ['InsufficientFreeAddresses', 'Free addresses in the subnets, or lower scaling.max.'],
  ['NodeCreationFailure', 'Check the policies of the node role and the way of the subnets to the cluster.'],
]);

/** EKS' health issues in its own words. */
export function describeIssues({ healthIssues }: { readonly healthIssues: readonly HealthIssue[] }): string {
  if (healthIssues.length === 0) return 'EKS gives no reason.';
  return healthIssues
    .map(({ code, message, resourceIds }) =>
      sentence(`${code}: ${message}${resourceIds.length > 0 ? ` (${joined(resourceIds)})` : ''}`),
    )
    .join(' ');
}

/** What to do about them, each thing once. EKS looks again by itself. */
export function remediesFor({ healthIssues }: { readonly healthIssues: readonly HealthIssue[] }): string {
  const found = new Set(healthIssues.map(({ code }) => moves.get(code) ?? 'Mend what EKS names.'));
  return found.size === 0 ? '' : ` ${[...found].join(' ')}`;
}
