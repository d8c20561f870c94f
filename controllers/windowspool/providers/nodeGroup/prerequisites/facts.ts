/** The facts that prerequisites are checked against: read once, plain data. */

import type { Outcome } from '../../../model/outcome.ts';
import type { EksState } from '../model/groupState.ts';
import type { PrerequisiteFacts } from '../model/prerequisiteFacts.ts';

/** The permission that reading a fact needs: an IAM action, or a verb and an object of Kubernetes. */
export const PERMISSIONS: Readonly<
  Record<Exclude<keyof PrerequisiteFacts, 'complete' | 'controllerWarnings' | 'advice'>, string>
> = {
  cniConfig: 'get configmaps kube-system/amazon-vpc-cni',
  cniAddon: 'eks:DescribeAddon',
  cniConfigOwner: 'get configmaps kube-system/amazon-vpc-cni',
  legacyController: 'get deployments.apps kube-system/vpc-resource-controller',
  clusterRolePolicies: 'iam:ListAttachedRolePolicies',
  podWebhook: 'get mutatingwebhookconfigurations.admissionregistration.k8s.io vpc-resource-mutating-webhook',
  accessEntry: 'eks:DescribeAccessEntry',
  roleMappings: 'get configmaps kube-system/aws-auth',
  ami: 'ssm:GetParameter',
  imageParameter: 'ssm:GetParameter',
  image: 'ec2:DescribeImages',
  linuxNode: 'list nodes',
  linuxRoles: 'eks:DescribeNodegroup',
  launchTemplate: 'ec2:DescribeLaunchTemplateVersions',
  instanceTypes: 'ec2:DescribeInstanceTypes',
  offerings: 'ec2:DescribeInstanceTypeOfferings',
  subnets: 'ec2:DescribeSubnets',
  securityGroups: 'ec2:DescribeSecurityGroups',
  userData: 'get configmaps in the namespace of the operator',
  nodeGroups: 'eks:ListNodegroups',
};

/** The outcome after a step that changed facts. */
export function withFacts(soFar: Outcome<EksState>, facts: Partial<PrerequisiteFacts>): Outcome<EksState> {
  const { prerequisites } = soFar.after;
  if (!prerequisites) return soFar;
  return { ...soFar, after: { ...soFar.after, prerequisites: { ...prerequisites, ...facts } } };
}
