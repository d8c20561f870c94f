/** How existing nodes are removed one by one: the operator cordons and drains them, and another system terminates them. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { type DrainAction, evictAction, isTimedOut, podsEndingWith, waitAction } from '../../disruption/drainAction.ts';
import { describeDrained } from '../../disruption/drainedNodes.ts';
import { admissionSteps, drainSteps } from '../../disruption/drainRules.ts';
import { isCordonedByOperator } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import type { ReadTerminatingNode } from '../../disruption/observeLeavingNodes.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { isTerminated } from '../../disruption/terminatingNode.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { TerminatingNodeView } from '../../model/disruption.ts';
import type { Derived } from '../../model/due.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Sources } from '../../observation/sources.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { InstanceList } from '../../ports/nodes.ts';
import { existingNodesIn } from '../../rules/nodeSource.ts';
import { describeUnread } from '../../util/words.ts';

/** Ensures that admitted nodes are drained, or restored. */
export function drainExistingNodes(s: Derived): RuleResult {
  return drainSteps(s, nextDrainAction);
}

/** Ensures that nodes to be removed are admitted when the budget allows it. */
export function admitExistingNodes(s: Derived): RuleResult {
  return admissionSteps(s);
}

/** The next action for a node, from its state as just read. */
function nextDrainAction(view: TerminatingNodeView, s: Derived): DrainAction {
  const { entry, node, member } = view;
  const now = node.ok ? node.value : undefined;
  // Releasing the node also uncordons it.
  const isReleased = s.membership?.toRelease.some(({ uid }) => uid === entry.uid);
  if (!node.ok) return { kind: 'wait', why: describeUnread('The node', node.error) };
  if (!now || isTerminated(view) || isReleased) return { kind: 'done' };
  if (!isStillRequested(entry, now, s, undefined)) return { kind: 'restore' };
  if (!member?.ok)
    return entry.drainedTime === undefined
      ? waitAction(entry, s, 'It is not known whether it belongs to the pool.')
      : { kind: 'wait' };
  if (!member.value)
    return { kind: 'restore', answer: 'refused', why: `node ${entry.name} does not belong to the pool` };
  // A user who uncordons a drained node uses it again.
  if (entry.drainedTime !== undefined)
    return isCordonedByOperator(now) ? { kind: 'wait' } : { kind: 'restore', answer: 'uncordoned' };
  if (isCordonedByOperator(now)) {
    const { text, remedy } = describeDrained(entry, now, podsEndingWith(view, now, s.now));
    const report = { kind: 'reportDrained', node: now, entry, text: `${text} ${remedy ?? ''}`.trim() } as const;
    return evictAction(view, now, s, { kind: 'end', step: report });
  }
  // A kubelet can uncordon its node again and again.
  if (isTimedOut(entry, s)) return { kind: 'restore', answer: 'timed-out' };
  return isStillInBudget(entry, now, s, s.due.capacity.serving) ? { kind: 'cordon' } : { kind: 'restore' };
}

/** Reads a terminating node. The ConfigMap of hosts that the pool names is read once for all nodes. */
export async function nodeReader(
  s: ObservedState,
  sources: Sources,
  signal: AbortSignal,
): Promise<ReadTerminatingNode> {
  const { instancesConfigMap } = existingNodesIn(s.pool.spec);
  const list = instancesConfigMap && (await sources.instanceLists.read(instancesConfigMap, signal));
  return (entry) => readExistingNode(entry, list, s, sources, signal);
}

async function readExistingNode(
  entry: LeavingNode,
  list: CallResult<InstanceList> | undefined,
  s: ObservedState,
  { nodes, drains, nodeMembership }: Sources,
  signal: AbortSignal,
): Promise<TerminatingNodeView> {
  const node = await nodes.read(entry.name, signal);
  const now = node.ok ? node.value : undefined;
  if (now?.uid !== entry.uid || !isStillRequested(entry, now, s, undefined)) return { entry, node };
  const member: CallResult<boolean> =
    list?.ok === false ? list : { ok: true, value: nodeMembership.confirms(s.pool, { list: list?.value }, now) };
  const isDone = entry.drainedTime !== undefined || !member.ok || !member.value || !isCordonedByOperator(now);
  return { entry, node, member, ...(!isDone && { pods: await drains.podsOn(entry.name, signal) }) };
}
