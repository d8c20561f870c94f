/** The policies of the roles of the account. */
import type { ListAttachedRolePoliciesRequest, ListAttachedRolePoliciesResponse } from '@aws-sdk/client-iam';
import { AwsFault } from '../awsFault.ts';
import { clusterRoleName, roleArns } from '../network.ts';
import type { LocalAwsState } from '../state.ts';

/** The policy that lets the VPC resource controller assign addresses. */
export const controllerPolicy = 'AmazonEKSVPCResourceController';

/** Those of AWS that EKS asks for: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html */
const nodePolicies = ['AmazonEKSWorkerNodePolicy', 'AmazonEC2ContainerRegistryPullOnly', 'AmazonEKS_CNI_Policy'];

/** ListAttachedRolePolicies of IAM, in one page. */
export function listAttachedRolePolicies(
  cloud: LocalAwsState,
  { RoleName = '' }: ListAttachedRolePoliciesRequest,
): ListAttachedRolePoliciesResponse {
  if (!roleArns.some((arn) => arn.endsWith(`/${RoleName}`))) {
    throw new AwsFault('NoSuchEntityException', `The role with name ${RoleName} cannot be found.`, 404);
  }
  const names = RoleName === clusterRoleName ? [...cloud.clusterRolePolicies].sort() : nodePolicies;
  return {
    AttachedPolicies: names.map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` })),
    IsTruncated: false,
  };
}

/** An administrator's change: attaches a policy to the role of the cluster, or detaches it. */
export function setClusterRolePolicy(cloud: LocalAwsState, name: string, attached: boolean): void {
  if (attached) cloud.clusterRolePolicies.add(name);
  else cloud.clusterRolePolicies.delete(name);
}

/** Whether the VPC resource controller, which uses the role of the cluster, can assign pod addresses. */
export function mayGiveAddresses({ clusterRolePolicies, switches }: LocalAwsState): boolean {
  return clusterRolePolicies.has(controllerPolicy) || switches.withoutControllerPolicy === 'addressesAdvertised';
}
