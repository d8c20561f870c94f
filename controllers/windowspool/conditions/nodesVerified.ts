/** The condition NodesVerified. */

import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../labels.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { VerificationResult } from '../model/poolNodes.ts';
import { controllerWarnings } from '../nodes/controllerWarnings.ts';
import type { Instance } from '../ports/ec2.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { isOwnedBy, nodeGroupNamesOf } from '../providers/eks/nodeGroup.ts';
import { likelyCause } from '../providers/eks/prerequisites/causes.ts';
import { desiredNodes, groupOf, lacksNodes, lateInstances, neededNodes } from '../queries.ts';
import { remedyFor } from '../reasons.ts';
import { isNodeWriteError } from '../steps/steps.ts';
import { count, duration, joined, sentence } from '../util/words.ts';
import { falseCondition, trueCondition, unknownCondition } from './condition.ts';

/** How many failing nodes a message spells out; status.failingNodes has more. */
const NODES_IN_MESSAGE = 3;

/** A state, and what to do about it: the end of the message, because a command must be the last thing in it. */
type Verification = ConditionState & { readonly remedy?: string };

/**
 * Whether the nodes of the pool pass verification.
 * @param missing the state while the provider has not brought all desired nodes
 */
export function nodesVerified(s: Derived, missing: (s: Derived) => Verification | undefined): ConditionState {
  const { remedy = '', ...state } = verification(s, missing);
  const message = [state.message, notCounted(s), unschedulable(s), heldNodes(s), refusedWrites(s), remedy]
    .filter((text) => text !== '')
    .join(' ');
  return { ...state, message };
}

/**
 * Writes to nodes that an admission policy refuses; missing permissions are reported in PrerequisitesMet. Only the first error in
 * alphabetical order is quoted, so that the message is stable.
 */
function refusedWrites({ errors }: ObservedState): string {
  const refused = errors.filter((entry) => isNodeWriteError(entry) && entry.error.kind === 'refused');
  const [first] = refused.map(({ error }) => `${error.operation} failed: ${error.message}`).sort();
  return first
    ? `${count(refused.length, 'write')} to nodes ${refused.length === 1 ? 'was' : 'were'} refused: ${sentence(first)}`
    : '';
}

/** Nodes that claim to be of the node group, but are not; empty when there are none. */
function notCounted(s: ObservedState): string {
  const { nonMembers } = s.poolNodes;
  if (nonMembers.length === 0) return '';
  const names = first(nonMembers.map((node) => node.name));
  const label = joined([...new Set(nonMembers.map(({ labels }) => `${NODE_GROUP_LABEL}=${labels[NODE_GROUP_LABEL]}`))]);
  const place = groupOf(s)?.warmPool ? ', which leaves out its warm pool' : '';
  return `${count(nonMembers.length, 'node')} with the label ${label} ${nonMembers.length === 1 ? 'is' : 'are'} not counted, because the last list of EC2 Auto Scaling does not have the instance in the node group${place}: ${names}.`;
}

/** `2 nodes are gated and 1 node is quarantined: no new pods are scheduled there.`; empty when there are none. */
function unschedulable({ poolNodes: { gated, quarantined } }: ObservedState): string {
  const counted = [
    [gated, 'gated'],
    [quarantined, 'quarantined'],
  ] as const;
  const parts = counted.flatMap(([nodes, how]) =>
    nodes > 0 ? [`${count(nodes, 'node')} ${nodes === 1 ? 'is' : 'are'} ${how}`] : [],
  );
  return parts.length > 0 ? `${joined(parts)}: no new pods are scheduled there.` : '';
}

/** Verified nodes that pods cannot use yet; empty when there are none. */
function heldNodes({ poolNodes: { awaitingRule: nodes } }: ObservedState): string {
  if (nodes === 0) return '';
  const [verb, rules] =
    nodes === 1 ? ['has', 'its NodeReadinessRule removes it'] : ['have', 'NodeReadinessRules remove it'];
  return `${count(nodes, 'verified node')} ${verb} a taint under readiness.k8s.io/ until ${rules}: see kubectl describe nodereadinessrules.`;
}

function verification(s: Derived, missing: (s: Derived) => Verification | undefined): Verification {
  const { total, verified, awaitingRule, failing, joining } = s.poolNodes;
  if (failing.length > 0) return failure(s);
  if (s.poolNodes.unlabelledNodes.length > 0) return lackingLabels(s);
  const waiting = missing(s);
  if (waiting) return waiting;
  if (joining.length > 0) {
    const message = `${count(joining.length, 'node')} joined and ${joining.length === 1 ? 'is' : 'are'} not ready yet: ${name(joining)}`;
    return unknownCondition('Joining', message, firstNodes(s));
  }
  const isAwaited = verified - awaitingRule < neededNodes(s.pool);
  const message = `${count(total, 'node')} verified.${warnings(s.poolNodes.warned)}`;
  return trueCondition('AllVerified', message, isAwaited ? 'working' : undefined);
}

/** The state of a pool of existing nodes that has none. */
export function noneFound({ pool }: ObservedState): ConditionState {
  const message = `No Windows node matches spec.existingNodes of pool ${pool.metadata.name}. Compare it with the nodes: kubectl get nodes -l kubernetes.io/os=windows --show-labels`;
  return falseCondition('NoNodesFound', message);
}

/** The state while the group does not have all desired nodes; undefined when it has. */
export function waitingForGroup(s: Derived): Verification | undefined {
  const { total } = s.poolNodes;
  const group = groupOf(s);
  if (group && !isOwnedBy(s.pool, group)) {
    const message = `The nodes of node group ${group.name} are not counted, because it is not managed by this pool.`;
    return falseCondition('Pending', message);
  }
  if (total === 0 && !mayHaveNodes(s, group)) {
    return falseCondition('Pending', 'Waiting for the node group.', 'working');
  }
  const desired = desiredNodes(s) ?? total;
  if (total === 0 && desired === 0) {
    return trueCondition('NoNodes', 'The desired size is 0.');
  }
  const missing = Math.max(0, desired - total);
  if (missing > 0 && group?.status === 'DELETING') {
    const message = `${total} of ${count(desired, 'node')} ${total === 1 ? 'is' : 'are'} left, because node group ${group.name} is being deleted.`;
    return unknownCondition('Pending', message);
  }
  return missing > 0 ? waitingForNodes(s, missing, desired) : undefined;
}

/** Whether the pool's group has been created, so that nodes can join. */
function mayHaveNodes({ pool }: ObservedState, group: NodeGroup | undefined): boolean {
  return group !== undefined && isOwnedBy(pool, group) && !['CREATING', 'CREATE_FAILED'].includes(group.status);
}

function failure(s: Derived): Verification {
  const { failing, total } = s.poolNodes;
  const reasons = new Set(failing.map(({ failures }) => failures[0]?.reason));
  const [only] = reasons;
  const same = reasons.size === 1 ? only : undefined;
  const remedy = same ? remedyFor(same, failing[0]?.node.name ?? '') : 'See status.failingNodes.';
  const cause = likelyCause(
    s,
    failing.flatMap(({ failures }) => failures.map(({ reason }) => reason)),
  );
  const message = `${failing.length} of ${count(total, 'node')} failed verification: ${name(failing)}${controllerWarnings(s)}${cause}`;
  return { ...falseCondition(same ?? 'NodesFailing', message), remedy };
}

/** Nodes on the pool's instances that the watch of its Windows nodes does not show: they lost a label, or run another operating system. */
function lackingLabels({ pool, poolNodes }: ObservedState): Verification {
  const foreign = poolNodes.unlabelledNodes.filter(({ operatingSystem }) => ![WINDOWS, ''].includes(operatingSystem));
  if (foreign.length > 0) return wrongSystem(foreign);
  const [main = '', ...others] = nodeGroupNamesOf(pool);
  const groupOf = (node: NodeRecord) => others.find((name) => name === poolNodes.groupOf(node)) ?? main;
  const renamed = poolNodes.unlabelledNodes.filter((node) => node.labels[NODE_GROUP_LABEL] !== groupOf(node));
  const [one] = renamed;
  // The label is that of one group: nodes of another one follow.
  const [label, unlabelledNodes] = one
    ? [`${NODE_GROUP_LABEL}=${groupOf(one)}`, renamed.filter((node) => groupOf(node) === groupOf(one))]
    : [`${OS_LABEL}=${WINDOWS}`, poolNodes.unlabelledNodes];
  const message = `${count(unlabelledNodes.length, 'node')} of the pool ${unlabelledNodes.length === 1 ? 'lacks' : 'lack'} the label ${label}, by which nodes are counted: ${first(unlabelledNodes.map((node) => node.name))}.`;
  const remedy = `Terminate the instance, or restore the label: kubectl label node NAME ${label}`;
  return { ...falseCondition('MembershipLabelRemoved', message), remedy };
}

/** Nodes of another operating system, as measured by the kubelet; the label of the watch can be changed. */
function wrongSystem(nodes: readonly NodeRecord[]): ConditionState {
  const named = nodes.map(({ name, operatingSystem }) => `${name} runs ${operatingSystem}`);
  const message = `${count(nodes.length, 'instance')} of the pool joined as ${nodes.length === 1 ? 'a node that does' : 'nodes that do'} not run Windows: ${first(named)}. Check the AMI in the launch template of the Auto Scaling group, and terminate ${nodes.length === 1 ? 'the instance' : 'the instances'}.`;
  return falseCondition('WrongOperatingSystem', message);
}

/** The first names, and how many more there are. */
function first(names: readonly string[]): string {
  const more = names.length > NODES_IN_MESSAGE ? ` and ${names.length - NODES_IN_MESSAGE} more` : '';
  return `${names.slice(0, NODES_IN_MESSAGE).join(', ')}${more}`;
}

/** `ip-10-0-1-23 runs build …; ip-10-0-1-24 is not Ready … and 2 more.` */
function name(results: readonly VerificationResult[]): string {
  const lines = results.slice(0, NODES_IN_MESSAGE).map(({ node, failures }) => `${node.name} ${failures[0]?.message}`);
  const more = results.length > NODES_IN_MESSAGE ? ` and ${results.length - NODES_IN_MESSAGE} more` : '';
  return sentence(`${lines.join('; ')}${more}`);
}

function warnings(warned: readonly VerificationResult[]): string {
  const [first] = warned;
  if (!first) return '';
  return ` ${count(warned.length, 'node')} with a warning, such as ${sentence(`${first.node.name} ${first.warnings[0]?.message}`)}`;
}

/** Instances that are not nodes yet: joining within the join grace period, missing after it. */
function waitingForNodes(s: Derived, missing: number, desired: number): Verification {
  const text = `${s.poolNodes.total} of ${count(desired, 'node')} joined`;
  const late = lateInstances(s);
  if (!lacksNodes(s)) {
    return unknownCondition('Joining', `${text}, ${missing} joining.`, firstNodes(s));
  }
  const grace = duration(s.settings.joinGraceMs);
  const named = late && late.length > 0 ? ` Running but not joined: ${joined(late.map(({ id }) => id))}.` : '';
  const message = `${text}, ${missing} did not join within ${grace}.${named}${likelyCause(s, ['NodesMissing'])}`;
  return { ...falseCondition('NodesMissing', message), remedy: remedyForLate(late, s.poolNodes.total) };
}

/** When other nodes joined, their role has access: then the cause is on the instance. */
function remedyForLate(late: readonly Instance[] | undefined, joinedNodes: number): string {
  if (late?.length === 0)
    return 'No running instance is waiting to join. Check the activity history of the Auto Scaling group.';
  const [first] = late ?? [];
  const access = 'that the EKS access entry of the node role has the type EC2_WINDOWS, and ';
  const log = first
    ? `the kubelet log on the instance: aws ssm start-session --target ${first.id}`
    : 'the kubelet log.';
  return `Check ${joinedNodes > 0 ? '' : access}${log}`;
}

/** Reconciling is not reported while a pool grows beyond the nodes that it needs. */
function firstNodes(s: ObservedState): 'working' | undefined {
  return s.poolNodes.verified < neededNodes(s.pool) ? 'working' : undefined;
}
