/** Which connections security groups allow. Pure. */
import type { Cluster } from '../../../ports/eks.ts';
import type { LaunchTemplate, SecurityGroup, SecurityRule } from '../../../ports/prerequisites.ts';
import type { CheckFacts } from '../model/checkFacts.ts';

/** The port of the API server of an EKS cluster: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html */
const API_SERVER = 443;

/** The security groups of the control plane, the cluster security group first. */
export function controlPlaneGroups({
  securityGroup,
  additionalSecurityGroups = [],
}: Pick<Cluster, 'securityGroup' | 'additionalSecurityGroups'>): readonly string[] {
  return [...(securityGroup === undefined ? [] : [securityGroup]), ...additionalSecurityGroups];
}

/**
 * Whether nodes of the template get other security groups than that of the cluster, with which they reach the API server in the VPC: EKS adds it only if the
 * template names none (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups).
 */
export function lacksClusterGroup(
  template: LaunchTemplate | undefined,
  { securityGroup, isPublicOnly }: Pick<Cluster, 'securityGroup' | 'isPublicOnly'>,
): boolean {
  const groups = template?.securityGroups;
  return groups !== undefined && securityGroup !== undefined && !isPublicOnly && !groups.includes(securityGroup);
}

/** Whether it is not known for now if nodes of the template can reach the API server. Without the permission to read the rules, they are not evaluated. */
export function isJoinUndecided(
  template: LaunchTemplate,
  cluster: Cluster | undefined,
  { controlPlaneRules }: Pick<CheckFacts, 'controlPlaneRules'> = {},
): boolean {
  const isUnread = controlPlaneRules?.ok === false && controlPlaneRules.error.kind !== 'denied';
  return cluster !== undefined && isUnread && lacksClusterGroup(template, cluster);
}

/** Whether nodes of the template cannot reach the API server: no security group of the control plane allows it. False while that is not known. */
export function cannotJoin(
  template: LaunchTemplate,
  cluster: Cluster | undefined,
  { controlPlaneRules }: Pick<CheckFacts, 'controlPlaneRules'> = {},
): boolean {
  if (!cluster || !lacksClusterGroup(template, cluster) || !controlPlaneRules?.ok) return false;
  const found = controlPlaneRules.value;
  const ids = controlPlaneGroups(cluster);
  // A group that was not found may have the rule.
  if (!ids.every((id) => found.some((group) => group.id === id))) return false;
  return !allowsTcp(found, 'inbound', API_SERVER, template.securityGroups ?? []);
}

/** Whether a rule of the groups allows the port for one of the peers: the rules of all groups are combined. A rule for addresses counts as open. */
export function allowsTcp(
  groups: readonly SecurityGroup[],
  direction: 'inbound' | 'outbound',
  port: number,
  peers: readonly string[],
): boolean {
  const isOpen = ({ protocol, ports, groups: allowed, hasAddresses }: SecurityRule) =>
    (protocol === 'all' || (protocol === 'tcp' && (!ports || (ports.from <= port && port <= ports.to)))) &&
    (hasAddresses || allowed.some((id) => peers.includes(id)));
  return groups.some((group) => group[direction].some(isOpen));
}
