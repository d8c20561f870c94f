/** The health issues that EKS reports for a node group, and their remedies. */
import type { Symptom } from '../../../checks/check.ts';
import { roleName } from '../../../nodes/nodeRole.ts';
import {
  type HealthCode,
  type HealthIssue,
  isHealthCode,
  type LaunchError,
  launchErrorsIn,
  type NodeGroup,
} from '../../../ports/eks.ts';
import { capitalized, count, cut, joined, sentence } from '../../../util/words.ts';
import { faultInWords } from './faultInWords.ts';

/** For objects that EKS does not recreate: the operator creates a node group that no longer exists. */
const RECREATE =
  'Delete the node group, which terminates its nodes; the operator recreates it (aws eks delete-nodegroup --cluster-name CLUSTER --nodegroup-name GROUP).';
const ACTIVITIES = 'aws autoscaling describe-scaling-activities --auto-scaling-group-name SCALING_GROUP --max-items 5';
const QUOTAS = 'aws service-quotas list-service-quotas --service-code';

/** The remedy for each code, with placeholders as in {@link filled}. A code without a remedy does not compile. */
const remedies: Readonly<Record<HealthCode, string>> = {
  AccessDenied:
    'Check that the node role has an access entry of type EC2_WINDOWS (aws eks describe-access-entry --cluster-name CLUSTER --principal-arn ROLE_ARN), or its groups in ConfigMap kube-system/aws-auth.',
  AmiIdNotFound:
    'Set nodeGroup.releaseVersion to a newer AMI release, or nodeGroup.ami to an AMI that exists. AWS makes an AMI private about four months after its release.',
  AsgInstanceLaunchFailures: `Check why EC2 launches no instance (${ACTIVITIES}).`,
  AutoScalingGroupInstanceRefreshActive:
    'Wait until the instance refresh is complete, or cancel it (aws autoscaling cancel-instance-refresh --auto-scaling-group-name SCALING_GROUP).',
  AutoScalingGroupInvalidConfiguration: 'Revert the changes that were made to Auto Scaling group SCALING_GROUP.',
  AutoScalingGroupNotFound: RECREATE,
  AutoScalingGroupOptInRequired: 'Enable the Region or the Local Zone of the subnets for this AWS account.',
  AutoScalingGroupRateLimitExceeded:
    'EKS retries. If the issue remains, ask AWS Support for a higher rate limit of EC2 Auto Scaling.',
  ClusterUnreachable:
    'Check the routes of the subnets and the endpoint access of the cluster (aws eks describe-cluster --name CLUSTER --query cluster.resourcesVpcConfig).',
  Ec2InstanceTypeDoesNotExist:
    'Set nodeGroup.instanceTypes to types that the Region offers (aws ec2 describe-instance-type-offerings).',
  Ec2LaunchTemplateDeletionFailure:
    'Delete the launch template that EKS created (aws ec2 delete-launch-template --launch-template-id TEMPLATE).',
  Ec2LaunchTemplateInvalidConfiguration:
    'Create a corrected version of the launch template, and set nodeGroup.launchTemplate.version to it.',
  Ec2LaunchTemplateMaxLimitExceeded: 'Delete unused launch templates, or request a higher quota.',
  Ec2LaunchTemplateNotFound: RECREATE,
  Ec2LaunchTemplateVersionMaxLimitExceeded:
    'Delete old versions of the launch template (aws ec2 delete-launch-template-versions --launch-template-id TEMPLATE --versions NUMBERS), or request a higher quota.',
  Ec2LaunchTemplateVersionMismatch:
    'Set the Auto Scaling group to the launch template version that EKS created (aws autoscaling update-auto-scaling-group --auto-scaling-group-name SCALING_GROUP --launch-template LaunchTemplateId=TEMPLATE,Version=NUMBER).',
  Ec2SecurityGroupDeletionFailure:
    'Delete what uses the security group (aws ec2 describe-network-interfaces --filters Name=group-id,Values=SECURITY_GROUP).',
  Ec2SecurityGroupNotFound:
    'If the security group is in the launch template, create a version with an existing one. If it is the security group of the cluster, EKS requires a new cluster.',
  Ec2SubnetInvalidConfiguration:
    'Add a route to a NAT gateway to the subnets, or assign public addresses in them (aws ec2 modify-subnet-attribute --subnet-id SUBNET --map-public-ip-on-launch).',
  Ec2SubnetListTooLong: 'Select fewer subnets in nodeGroup.subnets.',
  Ec2SubnetMissingIpv6Assignment:
    'Assign IPv6 addresses in the subnets (aws ec2 modify-subnet-attribute --subnet-id SUBNET --assign-ipv6-address-on-creation).',
  Ec2SubnetNotFound:
    'Set nodeGroup.immutableChangePolicy: Replace and existing subnets, because EKS cannot change the subnets of a node group. If the creation failed, correct nodeGroup.subnets.',
  IamInstanceProfileNotFound:
    'Recreate the instance profile with its former name (aws iam create-instance-profile --instance-profile-name NAME), and add the role to it (aws iam add-role-to-instance-profile --instance-profile-name NAME --role-name ROLE).',
  IamLimitExceeded: `Delete unused IAM roles and instance profiles, or request a higher quota (${QUOTAS} iam).`,
  IamNodeRoleNotFound:
    'Recreate IAM role ROLE with its policies, and then its EKS access entry, because the old entry does not apply to a recreated role.',
  IamThrottling: 'EKS retries. If the issue remains, find the client that calls IAM too often (CloudTrail shows it).',
  InstanceLimitExceeded: `Request a higher quota of instances (${QUOTAS} ec2), or lower nodeGroup.scaling.maxSize.`,
  InsufficientFreeAddresses:
    'Free addresses in the subnets (aws ec2 describe-subnets --subnet-ids SUBNETS), or lower nodeGroup.scaling.maxSize.',
  InternalFailure: 'EKS retries. If the issue remains, open a case with AWS Support.',
  KubernetesLabelInvalid: 'Correct spec.labels.',
  LimitExceeded: 'Request a higher quota of the resource that EKS names.',
  NodeCreationFailure:
    'Check that node role ROLE has AmazonEKSWorkerNodePolicy. Check the route from the subnets to the API server.',
  NodeTerminationFailure: 'Terminate the instances (aws ec2 terminate-instances --instance-ids INSTANCES).',
  PodEvictionFailure:
    'Relax the PodDisruptionBudgets of the pods that were not evicted (kubectl get pdb --all-namespaces), or delete these pods.',
  SourceEc2LaunchTemplateNotFound:
    'The launch template was deleted. Create another launch template, and set nodeGroup.immutableChangePolicy: Replace and nodeGroup.launchTemplate.',
  Unknown: `Check the Auto Scaling group (${ACTIVITIES}). If the issue remains, open a case with AWS Support.`,
};

/** The remedy for each error of EC2 that EKS quotes, which says more than the code of EKS. */
const LAUNCH_REMEDIES: Readonly<Record<LaunchError, string>> = {
  InsufficientFreeAddressesInSubnet:
    'Free addresses in the subnets (aws ec2 describe-subnets --subnet-ids SUBNETS), or use larger subnets.',
  InsufficientInstanceCapacity:
    'EC2 has no capacity for the instance type in the zone that the message names. Add more types to nodeGroup.instanceTypes, or subnets of more zones; EKS tries again.',
  InvalidAMIID:
    'The AMI does not exist any more, or is not shared with this account. Set nodeGroup.releaseVersion to a newer AMI release, or nodeGroup.ami to an AMI that exists.',
  InvalidBlockDeviceMapping:
    'The root volume is smaller than that of the AMI. Set nodeGroup.disk.sizeGiB, or the volume in the launch template, to at least the size that the message names.',
  InvalidKMSKey:
    'Enable the KMS key of the volumes, and let the service-linked role of EC2 Auto Scaling use it (AWSServiceRoleForAutoScaling).',
  InvalidSubnetID: 'A subnet of the node group does not exist any more. Select existing subnets in nodeGroup.subnets.',
  MaxFleetCountExceeded: `EC2 launches no instances, because the quota of fleet requests is used up. Request a higher one (${QUOTAS} ec2). In a new account, EC2 may say this until AWS has verified the account: open a case with AWS Support.`,
  MaxSpotInstanceCountExceeded: `Request a higher quota of Spot Instances (${QUOTAS} ec2), or use On-Demand Instances.`,
  SpotMaxPriceTooLow: 'Remove the maximum price of Spot Instances from the launch template.',
  UnauthorizedOperation:
    'Compare the operation that the message names with the permissions of the service-linked roles of EKS and EC2 Auto Scaling, and with service control policies.',
  UnfulfillableCapacity:
    'EC2 has no Spot capacity for these types. Add more types to nodeGroup.instanceTypes, or subnets of more zones; EKS tries again.',
  Unsupported:
    'The zone that the message names does not offer the instance type, or the type does not support a setting. Change nodeGroup.instanceTypes or the subnets.',
  VcpuLimitExceeded: `Request a higher quota of vCPUs (${QUOTAS} ec2), or lower nodeGroup.scaling.maxSize.`,
};

/** What EKS and EC2 report of a group. */
export function symptomsOf({ healthIssues }: Pick<NodeGroup, 'healthIssues'>): readonly Symptom[] {
  return healthIssues.flatMap((issue) => [...(isHealthCode(issue.code) ? [issue.code] : []), ...launchErrorsIn(issue)]);
}

/** How much of the health issues a message has: the next step is at its end, which the schema would cut off. */
const MOST_ISSUES = 5;
const MOST_RESOURCES = 5;
/** Of an ID or ARN, in characters. */
const RESOURCE_LENGTH = 256;

/** The first health issues, with the codes of EKS, and its messages unless their form is known. */
export function describeIssues({ healthIssues }: { readonly healthIssues: readonly HealthIssue[] }): string {
  if (healthIssues.length === 0) return 'EKS reports no reason.';
  const texts = healthIssues.slice(0, MOST_ISSUES).map((issue, index) => {
    const { code, message } = issue;
    const resourceIds = issue.resourceIds.map((id) => cut(id, RESOURCE_LENGTH));
    const inWords = faultInWords({ ...issue, resourceIds });
    if (inWords !== undefined) return sentence(index === 0 ? inWords : capitalized(inWords));
    const named = joined(resourceIds, MOST_RESOURCES);
    return sentence(`${code}: ${message}${named && ` (${named})`}`);
  });
  const more = healthIssues.length - texts.length;
  return texts.join(' ') + (more > 0 ? ` EKS reports ${count(more, 'more health issue')}.` : '');
}

/** The first health issue, with the code and message of EKS, without a full stop. */
export function describeFirstIssue({
  healthIssues: [issue],
}: {
  readonly healthIssues: readonly HealthIssue[];
}): string {
  return issue ? `${issue.code}: ${issue.message}` : 'EKS reports no reason';
}

type Group = Pick<NodeGroup, 'name' | 'arn' | 'nodeRoleArn' | 'subnets' | 'autoScalingGroups' | 'healthIssues'>;

/** The remedies for the first issues of a group, without duplicates. EKS evaluates the group's health again automatically. */
export function remediesFor(group: Group): string {
  const found = new Set(
    group.healthIssues.slice(0, MOST_ISSUES).flatMap((issue) => {
      const ofEc2 = launchErrorsIn(issue).map((code) => filled(LAUNCH_REMEDIES[code], group, issue));
      if (ofEc2.length > 0) return ofEc2;
      return [isHealthCode(issue.code) ? filled(remedies[issue.code], group, issue) : 'Fix the cause that EKS names.'];
    }),
  );
  return found.size === 0 ? '' : ` ${[...found].join(' ')}`;
}

/** Fills in the placeholders. One whose value is not known stays, in capitals, as in a manual. */
function filled(remedy: string, group: Group, { resourceIds }: HealthIssue): string {
  const { name, arn, nodeRoleArn, subnets, autoScalingGroups } = group;
  const affected = (prefix: string) => resourceIds.filter((id) => id.startsWith(prefix));
  const values: Readonly<Record<string, string | undefined>> = {
    CLUSTER: /:nodegroup\/([^/]+)\//.exec(arn)?.[1],
    GROUP: name,
    ROLE: roleName(nodeRoleArn),
    ROLE_ARN: nodeRoleArn,
    SCALING_GROUP: autoScalingGroups[0],
    SUBNETS: subnets.join(' '),
    SUBNET: affected('subnet-')[0],
    TEMPLATE: affected('lt-')[0],
    SECURITY_GROUP: affected('sg-')[0],
    INSTANCES: affected('i-').slice(0, MOST_RESOURCES).join(' '),
  };
  return remedy.replace(/\b[A-Z_]{4,}\b/g, (word) => values[word] || word);
}
