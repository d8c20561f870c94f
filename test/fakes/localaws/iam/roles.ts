/** The roles of the account, and their policies. */

import type { AccessEntry } from '@aws-sdk/client-eks';
import type {
  GetRoleRequest,
  GetRoleResponse,
  ListAttachedRolePoliciesRequest,
  ListAttachedRolePoliciesResponse,
} from '@aws-sdk/client-iam';
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
  arnOf(RoleName);
  const names = RoleName === clusterRoleName ? [...cloud.clusterRolePolicies].sort() : nodePolicies;
  return {
    AttachedPolicies: names.map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` })),
    IsTruncated: false,
  };
}

/** GetRole of IAM. A role is older than the cluster, unless it was deleted and created again. */
export function getRole(cloud: LocalAwsState, { RoleName = '' }: GetRoleRequest): GetRoleResponse {
  const Arn = arnOf(RoleName);
  const { id, createdAt } = cloud.recreatedRoles.get(Arn) ?? { id: firstId, createdAt: cloud.cluster.createdAt };
  return { Role: { Path: '/', RoleName, RoleId: id, Arn, CreateDate: createdAt } };
}

const firstId = 'AROA0000000000000000A';

/** Deletes a role and creates it again: its access entry, which belongs to the former ID, does not apply to it. Source: the user guide on access entries. */
export function recreateRole(cloud: LocalAwsState, name: string): void {
  const count = cloud.recreatedRoles.size + 1;
  const id = `AROA${String(count).padStart(16, '0')}B`;
  cloud.recreatedRoles.set(arnOf(name), { id, createdAt: cloud.timeline.now() });
}

/** Whether an access entry belongs to the role as it is now. */
export function isOfRole(cloud: LocalAwsState, { principalArn = '', createdAt }: AccessEntry): boolean {
  const recreated = cloud.recreatedRoles.get(principalArn);
  return recreated === undefined || (createdAt !== undefined && createdAt >= recreated.createdAt);
}

function arnOf(name: string): string {
  const arn = roleArns.find((each) => each.endsWith(`/${name}`));
  if (arn !== undefined) return arn;
  throw new AwsFault('NoSuchEntityException', `The role with name ${name} cannot be found.`, 404);
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
