/** How nodes of a node group are removed one by one: what is read, the next action, and the termination of their instances. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { type DrainAction, evictAction, isTimedOut, podsEndingWith, waitAction } from '../../disruption/drainAction.ts';
import { admissionSteps, drainSteps } from '../../disruption/drainRules.ts';
import { isCordonedByOperator, operationFor } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { membershipMismatch, terminationRefusal } from '../../disruption/terminateInstance.ts';
import { isNodeless, isTerminated } from '../../disruption/terminatingNode.ts';
import { isOnItsWay } from '../../disruption/terminationRecord.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { AcceptedTermination, TerminatingNodeView } from '../../model/disruption.ts';
import { LEFT_ANSWER, NODE_REPLACEMENT } from '../../model/disruption.ts';
import type { Sources } from '../../observation/sources.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { KnownInstance } from '../../ports/ec2.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { scalingIn } from '../../rules/nodeSource.ts';
import { waitMeanwhile } from '../../rules/ruleChains.ts';
import { describeUnread } from '../../util/words.ts';
import { acceptsUpdates } from './desired/desiredNodeGroup.ts';
import { capacityOf, idleGroups } from './groupCapacity.ts';
import type { EksDerived } from './model/groupDue.ts';
import type { EksState } from './model/groupState.ts';
import { ownedGroup, ownGroups } from './observation/knownGroups.ts';
import { canTakeOver } from './secondGroup/secondGroup.ts';

/** Ensures that no rolling update begins while nodes are drained one by one. Changes that replace no node are not delayed. */
export function waitForTerminatingNodes(s: EksDerived): RuleResult | undefined {
  const isLeaving = s.pool.status?.disruption?.reason === NODE_REPLACEMENT;
  if (!isLeaving || !s.due.version) return undefined;
  const message =
    'The rolling update waits until the nodes that are being replaced or removed are gone. See Disrupting.';
  return waitMeanwhile('UpdatePending', 'watch', { message, progress: true });
}

/** Ensures that admitted nodes are drained and their instances terminated, or restored. */
export function drainNodes(s: EksDerived): RuleResult {
  return drainSteps(s, nextDrainAction);
}

/** Ensures that nodes to be removed are admitted when the budget allows it. */
export function admitNodes(s: EksDerived): RuleResult {
  const { steps, ...waits } = admissionSteps(s);
  // Nothing begins in a cluster that may be another one.
  return { steps: s.cluster.kind === 'seen' ? steps : [], ...waits };
}

/** When an instance is still a node this long after its termination was requested, the request is repeated. */
const TERMINATE_AGAIN_MS = 600_000;

/** Why the instance of a node is not known. */
function unreadInstance(instance: TerminatingNodeView['instance']): string {
  return instance?.ok === false ? describeUnread('Its instance', instance.error) : 'Its instance was not read yet.';
}

/** The next action for a node, from its state as just read. */
function nextDrainAction(view: TerminatingNodeView, s: EksDerived): DrainAction {
  const { entry, node, instance } = view;
  const groups = idleGroups(s);
  const now = node.ok ? node.value : undefined;
  const isIdle = now && !isNodeless(entry) ? isInIdleGroup(s, groups, now) : groups.length > 0;
  const end = terminationOf(view, groups, s);
  if (isTerminated(view)) return { kind: 'done' };
  if (!node.ok) return { kind: 'wait', why: describeUnread('The node', node.error) };
  if (isNodeless(entry) && !instance?.ok) return { kind: 'wait', why: unreadInstance(instance) };
  if (!isIdle) return { kind: 'wait', ...(isBusy(s) && { why: 'EKS is changing the node group.' }) };
  const found = view.accepted?.ok ? view.accepted.value : undefined;
  if (found === 'left' && now) return releaseAction(entry, now);
  if (isOnItsWay(entry, s) || view.accepted?.ok === false) return { kind: 'wait' };
  const isAccepted = entry.terminationAcceptedTime !== undefined;
  if (!now || isNodeless(entry)) return isAccepted && !isRepeated(entry, s) ? { kind: 'wait' } : end;
  // What a first termination needs is required again, if the accepted one has had no effect: a record alone terminates nothing.
  if (isAccepted && found !== 'inService') return { kind: 'wait' };
  if (!isStillRequested(entry, now, s, s.due.capacity.retiring) || isSizeDeclared(entry, s)) return { kind: 'restore' };
  if (!isCordonedByOperator(now)) {
    if (!instance?.ok) return waitAction(entry, s, unreadInstance(instance));
    if (s.counted?.ok === false) return waitAction(entry, s, describeUnread('The nodes of the pool', s.counted.error));
    const scalingGroups = groups.flatMap(({ autoScalingGroups }) => autoScalingGroups);
    const mismatch = instance.value
      ? membershipMismatch({ ...entry, scalingGroups }, instance.value)
      : unknownInstance(entry);
    if (mismatch) return { kind: 'restore', answer: 'refused', why: mismatch };
    // A kubelet can uncordon its node again and again.
    if (isTimedOut(entry, s)) return { kind: 'restore', answer: 'timed-out' };
    return isStillInBudget(entry, now, s, s.due.capacity.serving) ? { kind: 'cordon' } : { kind: 'restore' };
  }
  // The group that replaces this one has lost nodes: the drain continues when it has them again.
  if (entry.operation === 'DrainNodeGroup' && !canTakeOver(s))
    return waitAction(entry, s, 'The other node group does not have enough verified nodes.');
  return evictAction(view, now, s, terminateAction(entry, end, s));
}

/** Terminates the instance of the node; with its pods, if the node is excluded from drain. */
function terminationOf(view: TerminatingNodeView, groups: readonly NodeGroup[], s: EksDerived): DrainAction {
  const { entry } = view;
  const scalingGroups = groups.flatMap(({ autoScalingGroups }) => autoScalingGroups);
  const common = { entry, scalingGroups, target: entry.uid };
  if (isNodeless(entry)) return { kind: 'end', step: { kind: 'terminateUnregistered', ...common } };
  const node = view.node.ok ? view.node.value : undefined;
  if (!node) return { kind: 'wait' };
  const withPods = podsEndingWith(view, node, s.now);
  const pods = withPods !== undefined && { withPods };
  const { group } = s.due.capacity.retiring ?? {};
  const retiring = entry.operation === 'DrainNodeGroup' && group !== undefined && { retiring: { group } };
  return { kind: 'end', step: { kind: 'terminateInstance', node, ...common, ...pods, ...retiring } };
}

/** Whether EKS is not updating the group of the node. */
function isInIdleGroup(s: EksState, groups: readonly NodeGroup[], node: NodeRecord): boolean {
  return s.second ? groups.some(({ name }) => name === s.poolNodes.groupOf(node)) : groups.length > 0;
}

/** Whether EKS works on the main group. */
function isBusy({ pool, group }: EksState): boolean {
  const main = ownedGroup(pool, group);
  return main !== undefined && !acceptsUpdates(main);
}

/** Whether the termination has been requested so long ago that it is requested again. */
function isRepeated({ terminationAcceptedTime = '' }: LeavingNode, { now }: EksState): boolean {
  return now - Date.parse(terminationAcceptedTime) >= TERMINATE_AGAIN_MS;
}

function unknownInstance({ name, instanceID }: LeavingNode): string {
  if (instanceID === '') return `node ${name} reports no EC2 instance ID`;
  return `node ${name} reports instance ${instanceID}, which does not exist`;
}

/**
 * Terminates an empty node. A termination that AWS refuses is given up at once; other errors, such as a missing permission, are retried
 * until the drain timeout.
 */
function terminateAction(entry: LeavingNode, end: DrainAction, s: EksState): DrainAction {
  const error = terminationRefusal(entry.uid, Date.parse(entry.startTime), s);
  if (!error) return end;
  const { kind, message: why } = error;
  if (kind === 'refused') return { kind: 'restore', answer: 'refused', why };
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out', why } : end;
}

/**
 * Whether the user has set a desired size since: then no node is removed. The size is sent to EKS once, so a group that shrinks after that
 * would stay smaller.
 */
function isSizeDeclared({ operation }: LeavingNode, { pool }: EksState): boolean {
  return operation === 'Remove' && scalingIn(pool.spec).desiredSize !== undefined;
}

/**
 * What became of an instance whose termination AWS accepted. With a warm pool that reuses instances, it may leave its group and come back as the same node: also
 * between two lists of EC2 Auto Scaling, so its state is read before the termination is requested again. A group that is being replaced has a warm pool of
 * its own.
 */
async function acceptedTermination(
  entry: LeavingNode,
  node: NodeRecord,
  s: EksState,
  { scalingGroups }: Pick<Sources, 'scalingGroups'>,
  signal: AbortSignal,
): Promise<CallResult<AcceptedTermination>> {
  const group = ownGroups(s).find(({ name }) => name === s.poolNodes.groupOf(node));
  const comesBack = group?.warmPool?.reuseOnScaleIn === true;
  if (comesBack && s.poolNodes.nonMembers.some(({ uid }) => uid === node.uid)) return { ok: true, value: 'left' };
  if (!isRepeated(entry, s)) return { ok: true, value: 'pending' };
  for (const name of group?.autoScalingGroups ?? []) {
    const lifecycle = await scalingGroups.lifecycleOf(name, entry.instanceID, signal);
    if (!lifecycle.ok) return lifecycle;
    if (lifecycle.value === 'InService') return { ok: true, value: comesBack ? 'left' : 'inService' };
    if (lifecycle.value !== undefined) break;
  }
  return { ok: true, value: 'pending' };
}

/** When the node comes back, it must not be removed once more for the same request. A node that still fails may be remediated again. */
function releaseAction({ operation }: LeavingNode, now: NodeRecord): DrainAction {
  return { kind: 'restore', ...(operationFor(now) === operation && { answer: LEFT_ANSWER }) };
}

/** Reads a terminating node: its instance until it is cordoned, and its pods from then on. */
export async function readTerminatingNode(
  entry: LeavingNode,
  s: EksState,
  sources: Sources,
  signal: AbortSignal,
): Promise<TerminatingNodeView> {
  const node = await sources.nodes.read(entry.name, signal);
  // EC2 rejects an empty instance ID.
  const known = async (): Promise<CallResult<KnownInstance | undefined>> =>
    entry.instanceID === '' ? { ok: true, value: undefined } : sources.instances.find(entry.instanceID, signal);
  if (isNodeless(entry)) return { entry, node, instance: await known() };
  const now = node.ok ? node.value : undefined;
  if (now?.uid !== entry.uid) return { entry, node };
  const accepted = entry.terminationAcceptedTime !== undefined && {
    accepted: await acceptedTermination(entry, now, s, sources, signal),
  };
  const view = { entry, node, ...accepted };
  if (accepted && !(accepted.accepted.ok && accepted.accepted.value === 'inService')) return view;
  if (!isStillRequested(entry, now, s, capacityOf(s).retiring)) return view;
  // The instance must be verified to be the pool's before the node is changed.
  if (!isCordonedByOperator(now)) return { ...view, instance: await known() };
  return { ...view, pods: await sources.drains.podsOn(entry.name, signal) };
}
