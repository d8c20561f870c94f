/** Checks on the IAM role of the nodes and its access to the cluster. */

import { type Answer, met, metWith, notMet, required, warning } from '../../../checks/check.ts';
import {
  entryCreation,
  entryDeletion,
  NODE_ACCESS,
  NODE_GROUPS,
  WINDOWS_ENTRY,
  wrongEntry,
} from '../../../checks/nodeAccess.ts';
import { roleArnOf, roleName, sameRole, withoutPath } from '../../../nodes/nodeRole.ts';
import type { AccessEntry, RoleMapping } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { capitalized, joined } from '../../../util/words.ts';
import { isCustom } from '../launchTemplate/launchSettings.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { given, type NodeGroupCheck, unread } from './nodeGroupCheck.ts';

/**
 * Ensures that nodes can join and that their kube-proxy has its permissions. An access entry takes precedence over aws-auth.
 *
 * With an AMI type WINDOWS_*, EKS gives the role access when it creates the node group and the role has none: an access entry of type
 * EC2_WINDOWS, or the groups in aws-auth when the authentication mode is CONFIG_MAP
 * (https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html,
 * https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2471). So missing access does not block the pool, and wrong access does: EKS
 * does not change an existing entry or mapping. With a custom AMI, EKS grants the access of Linux nodes
 * (https://github.com/aws/containers-roadmap/issues/2327). So missing access blocks the pool.
 */
export const nodeAccess: NodeGroupCheck = {
  ...NODE_ACCESS,
  explains: ['NotReady', 'NodesMissing', 'AccessDenied', 'NodeCreationFailure'],
  needs: ['accessEntry', 'roleMappings', 'roleCreatedAt'],
  evaluate(input) {
    const { accessEntry, roleMappings } = input.facts;
    if (!accessEntry && !roleMappings) return undefined;
    if (accessEntry && !accessEntry.ok) return unread('accessEntry', accessEntry.error);
    if (accessEntry?.value) return ofType(accessEntry.value, input);
    if (roleMappings && !roleMappings.ok) return unread('roleMappings', roleMappings.error);
    const mapping = roleMappings?.value.find(({ roleArn }) => sameRole(roleArn, roleIn(input)));
    return mapping && !needsEntry(input) ? byMapping(mapping, input) : withoutAccess(input);
  },
};

/**
 * Whether an entry must exist although aws-auth maps the role: with a custom AMI, EKS may create one of type EC2_LINUX, which takes precedence, together
 * with the group.
 */
function needsEntry({ spec, facts, creating }: CheckInput): boolean {
  return creating && isCustom(spec) && facts.accessEntry !== undefined;
}

function ofType({ type, createdAt }: AccessEntry, input: CheckInput): Answer {
  const { facts } = input;
  const entry = `The access entry of node role ${roleName(roleIn(input))}`;
  if (type !== WINDOWS_ENTRY) return withAnotherEntry(wrongEntry(roleName(roleIn(input)), type), input);
  // Reading the role is optional. An entry belongs to its ID: https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html
  const role = facts.roleCreatedAt?.ok ? facts.roleCreatedAt.value : undefined;
  if (createdAt === undefined || role === undefined || createdAt >= role) return met;
  return notMet(
    `${entry} is from ${timeOf(createdAt)}, and the role from ${timeOf(role)}: the role was deleted and created again. An entry applies only to the role for which it was created, so nodes cannot join`,
    newEntry(input),
  );
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/**
 * How to get an entry of the right type. The type of an entry cannot change
 * (https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html), and the call fails while there is one. Nothing but the user or the operator creates it again: EKS does that only
 * together with a node group (https://github.com/aws/containers-roadmap/issues/2425).
 */
function withAnotherEntry(found: string, input: CheckInput): Answer {
  const role = roleIn(input);
  const { linuxRoles } = input.facts;
  const isShared = linuxRoles?.ok && linuxRoles.value.some(({ nodeRoleArn }) => sameRole(nodeRoleArn, role));
  if (isShared) return notMet(`${found}. ${withAnotherRole(input)}`);
  // Linux nodes that use the role lose their access with the entry: the safe way comes first.
  const otherRole = `If Linux nodes use the role, ${withAnotherRole(input).replace('Set ', 'set ')}`;
  return notMet(found, `${otherRole}. ${newEntry(input, 'Only if no Linux node uses it, ')}`);
}

/** Ends with the commands. An operator that manages the entry creates it again. */
function newEntry(input: CheckInput, condition = ''): string {
  const { cluster, managesAccessEntry } = input;
  const role = roleIn(input);
  const deletion = entryDeletion(role, cluster.name);
  const step = managesAccessEntry
    ? `delete the entry, which the operator creates again: ${deletion}`
    : `replace the entry: ${deletion} && ${entryCreation(role, cluster.name)}`;
  return capitalized(condition + step);
}

/** The result for a role that is in aws-auth and has no access entry. */
function byMapping({ groups }: RoleMapping, input: CheckInput): Answer {
  const { cluster, facts } = input;
  const missing = NODE_GROUPS.filter((group) => !groups.includes(group));
  if (missing.length === 0) return met;
  const role = roleIn(input);
  const lacking = `ConfigMap kube-system/aws-auth of cluster ${cluster.name} maps node role ${role} without ${joined(missing)}`;
  // Where access entries exist, EKS may still create one with the node group.
  if (facts.accessEntry && isAccessPending(input))
    return warning(
      `Node role ${roleName(role)} has no access entry. Unless EKS creates one with the node group, the nodes run no pods`,
      `Create it now: ${entryCreation(role, cluster.name)}`,
    );
  return notMet(`${lacking}. Add ${missing.length === 1 ? 'it' : 'them'} to the groups of the role in mapRoles`);
}

/** The result for a role with neither an access entry nor a mapping. */
function withoutAccess(input: CheckInput): Answer {
  const { cluster, facts, managesAccessEntry } = input;
  const role = roleIn(input);
  if (facts.accessEntry && managesAccessEntry) return met;
  if (isAccessPending(input)) {
    const what = facts.accessEntry
      ? `has no access entry in cluster ${cluster.name} yet: EKS creates one of type EC2_WINDOWS`
      : `is not in ConfigMap kube-system/aws-auth of cluster ${cluster.name} yet: EKS adds it`;
    return metWith(`Node role ${role} ${what} with the node group. The operator checks it again then`);
  }
  const consequence = consequenceOf(input);
  if (facts.accessEntry)
    return notMet(
      `Node role ${role} has no access entry in cluster ${cluster.name}${consequence}`,
      `Set nodeGroup.accessEntryManagement: Operator, or create it: ${entryCreation(role, cluster.name)}`,
    );
  return notMet(
    `ConfigMap kube-system/aws-auth of cluster ${cluster.name} does not map node role ${role}${consequence}. ${mappingOf(role, input)}`,
  );
}

/** The consequence of missing access. */
function consequenceOf({ spec, creating }: CheckInput): string {
  if (!isCustom(spec) || !creating) return ', so its nodes cannot join';
  return ', and with a custom AMI, EKS grants it the access of Linux nodes, with which Windows nodes run no pods';
}

/** The remedy for aws-auth. Nothing but the user adds the role for a custom AMI, so all lines are named. */
function mappingOf(role: string, { spec }: CheckInput): string {
  if (!isCustom(spec)) return `Map it to the groups ${joined(NODE_GROUPS)}`;
  const lines = [
    `rolearn: ${withoutPath(role)}`,
    'username: system:node:{{EC2PrivateDNSName}}',
    `groups: [${NODE_GROUPS.join(', ')}]`,
  ];
  return `Add to its mapRoles: {${lines.join(', ')}}`;
}

/** Whether EKS has yet to give the role its access: before the group is created, and while it is. With a custom AMI, it gives the wrong one. */
function isAccessPending({ spec, groupStatus }: CheckInput): boolean {
  return !isCustom(spec) && (groupStatus === undefined || groupStatus === 'CREATING');
}

function roleIn({ spec, cluster }: CheckInput): string {
  return roleArnOf(nodeGroupIn(spec).nodeRole, cluster);
}

/** How to use another role: EKS cannot change the role of a node group. */
function withAnotherRole({ creating }: CheckInput): string {
  const set = creating
    ? 'Set nodeGroup.nodeRole to a role'
    : 'Set nodeGroup.immutableChangePolicy: Replace, and nodeGroup.nodeRole to a role';
  return `${set} that only Windows nodes use`;
}

/**
 * Ensures that Linux nodes do not use the role. A role has one access entry, which has the groups of one operating system. aws-auth can give
 * a role the groups of both; the user guide asked for two roles until 2025:
 * https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
 */
export const nodeRole: NodeGroupCheck = {
  ...required('NodeRoleShared', 'node-role', 'the node roles of Linux node groups'),
  explains: ['NotReady', 'NodesMissing', 'AccessDenied', 'NodeCreationFailure'],
  // It works while aws-auth has the groups of both.
  explainsAsWarning: [],
  needs: ['linuxRoles', 'accessEntry'],
  evaluate(input) {
    const { facts, cluster } = input;
    return given(facts, 'linuxRoles', (roles) => {
      const sharing = roles.filter(({ nodeRoleArn }) => sameRole(nodeRoleArn, roleIn(input)));
      if (sharing.length === 0) return met;
      const groups = joined(sharing.map(({ group }) => group));
      const shared = `Node role ${roleIn(input)} is also the role of Linux node group${sharing.length === 1 ? '' : 's'} ${groups}`;
      const { accessEntry } = facts;
      const hasEntry =
        cluster.authenticationMode === 'API' || (accessEntry?.ok === true && accessEntry.value !== undefined);
      if (hasEntry)
        return notMet(
          `${shared}. Its access entry in cluster ${cluster.name} has the groups of only one operating system. ${withAnotherRole(input)}`,
        );
      return warning(
        `${shared}. This works while ConfigMap kube-system/aws-auth maps the role to the groups of both operating systems (${joined(NODE_GROUPS)}) and the role has no access entry. Prefer a role for Windows nodes only`,
      );
    });
  },
};

/** The role that needs an access entry: the pool manages it, and it does not exist; undefined when there is none. */
export function missingAccessEntry(input: CheckInput): string | undefined {
  const { accessEntry, roleMappings } = input.facts;
  if (!input.managesAccessEntry || !accessEntry?.ok || accessEntry.value) return undefined;
  const role = roleIn(input);
  if (needsEntry(input)) return role;
  const mapping = roleMappings?.ok && roleMappings.value.find(({ roleArn }) => sameRole(roleArn, role));
  return mapping && NODE_GROUPS.every((group) => mapping.groups.includes(group)) ? undefined : role;
}
