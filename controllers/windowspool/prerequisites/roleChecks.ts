/** Checks on the IAM role of the nodes: what Kubernetes lets them do. */
import { nodeGroupIn } from '../poolKind.ts';
import type { AccessEntry, RoleMapping } from '../ports/prerequisites.ts';
import { joined } from '../words.ts';
import { type Check, failed, given, met, type Result, unknown, warning } from './check.ts';
import type { CheckInput } from './facts.ts';

/** The groups that aws-auth must give a Windows node role: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
const GROUPS = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];

/** Ensures that nodes can join and that their kube-proxy has its rights. An access entry goes before aws-auth. */
function nodeAccess(input: CheckInput): Result | undefined {
  const { accessEntry, roleMappings } = input.facts;
  if (!accessEntry && !roleMappings) return undefined;
  if (accessEntry && !accessEntry.ok) return unknown('accessEntry', accessEntry.trouble);
  if (accessEntry?.value) return ofType(accessEntry.value, input);
  if (roleMappings && !roleMappings.ok) return unknown('roleMappings', roleMappings.trouble);
  const mapping = roleMappings?.value.find(({ roleArn }) => sameRole(roleArn, nodeGroupIn(input.spec).nodeRoleArn));
  const missing = mapping && GROUPS.filter((group) => !mapping.groups.includes(group));
  if (missing?.length === 0) return met;
  if (missing && !accessEntry) return lacking(missing, input);
  return withoutEntry(input, mapping);
}

function ofType({ type }: AccessEntry, { spec, cluster }: CheckInput): Result {
  if (type === 'EC2_WINDOWS') return met;
  const role = nodeGroupIn(spec).nodeRoleArn;
  const cause =
    type === 'EC2_LINUX'
      ? 'kube-proxy of Windows nodes lacks its rights with it, and they run no pods'
      : 'Windows nodes cannot work with it';
  return failed(
    `The access entry of node role ${role} in cluster ${cluster.name} is of type ${type}: ${cause}. A type cannot change. ` +
      'Use a node role that no other nodes use; or, when none do, delete the entry and create it with type EC2_WINDOWS',
  );
}

/** Neither an access entry nor enough in aws-auth. */
function withoutEntry(
  { spec, cluster, facts, managesAccessEntry }: CheckInput,
  mapping: RoleMapping | undefined,
): Result {
  const role = nodeGroupIn(spec).nodeRoleArn;
  if (!facts.accessEntry) {
    const why = managesAccessEntry
      ? ` (its authentication mode ${cluster.authenticationMode} has no access entries)`
      : '';
    return failed(
      `ConfigMap kube-system/aws-auth of cluster ${cluster.name} does not name node role ${role}${why}. Map it to the groups ${joined(GROUPS)}`,
    );
  }
  if (managesAccessEntry) return met;
  const half = mapping ? ', and ConfigMap kube-system/aws-auth does not give it every group that Windows needs' : '';
  return failed(
    `Node role ${role} has no access entry in cluster ${cluster.name}${half}. EKS may make one of type EC2_LINUX for it, with which nodes run no pods. ` +
      'Create it with type EC2_WINDOWS, or set nodeGroup.manageAccessEntry: true',
  );
}

function lacking(missing: readonly string[], { spec }: CheckInput): Result {
  return failed(
    `ConfigMap kube-system/aws-auth maps node role ${nodeGroupIn(spec).nodeRoleArn} without ${joined(missing)}. Add what is missing to its groups`,
  );
}

/**
 * A role has one access entry, and that has the groups of one operating system. aws-auth can give a role the groups of both; the user guide
 * asked for two roles until 2025: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
 */
function ownRole({ spec, facts, cluster }: CheckInput): Result | undefined {
  return given(facts, 'linuxRoles', (roles) => {
    const sharing = roles.filter(({ nodeRoleArn }) => sameRole(nodeRoleArn, nodeGroupIn(spec).nodeRoleArn));
    if (sharing.length === 0) return met;
    const groups = joined(sharing.map(({ group }) => group));
    const shared = `Node role ${nodeGroupIn(spec).nodeRoleArn} is also the role of Linux node group ${groups}`;
    const { accessEntry } = facts;
    const hasEntry =
      cluster.authenticationMode === 'API' || (accessEntry?.ok === true && accessEntry.value !== undefined);
    if (hasEntry)
      return failed(
        `${shared}. Its access entry in cluster ${cluster.name} fits only one of the two operating systems. Create the pool with an IAM role of its own in nodeGroup.nodeRoleArn`,
      );
    return warning(
      `${shared}. This works while ConfigMap kube-system/aws-auth gives the role the groups of both (${joined(GROUPS)}) and the role has no access entry. Prefer an IAM role for Windows nodes only`,
    );
  });
}

/** aws-auth wants role ARNs without their path. */
function sameRole(a: string, b: string): boolean {
  return withoutPath(a) === withoutPath(b);
}

function withoutPath(arn: string): string {
  return arn.replace(/:role\/.*\//, ':role/');
}

/** The role for which an access entry is to be made: the pool says so, and none is there. */
export function missingAccessEntry(input: CheckInput): string | undefined {
  const { accessEntry, roleMappings } = input.facts;
  if (!input.managesAccessEntry || !accessEntry?.ok || accessEntry.value) return undefined;
  const role = nodeGroupIn(input.spec).nodeRoleArn;
  const mapping = roleMappings?.ok && roleMappings.value.find(({ roleArn }) => sameRole(roleArn, role));
  return mapping && GROUPS.every((group) => mapping.groups.includes(group)) ? undefined : role;
}

export const roleChecks: readonly Check[] = [
  { reason: 'NodeAccessWrong', about: 'the access of the node role', section: 'node-access', look: nodeAccess },
  { reason: 'NodeRoleShared', about: 'the node role of the Linux groups', section: 'node-role', look: ownRole },
];
