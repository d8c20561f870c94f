/** How existing nodes go one by one: they are cordoned and drained, and something else removes them. */
import type { LeavingNode } from '../../api.gen.ts';
import { podsThatEnd } from '../../disruption/drain.ts';
import { evictAction, waitAction } from '../../disruption/drainAction.ts';
import { describeDrained } from '../../disruption/drainedNodes.ts';
import { isExcludedFromDrain, isPrepared } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import type { Look } from '../../disruption/observe.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { admissionSteps, drainSteps } from '../../disruption/rules.ts';
import { isGone } from '../../disruption/terminatingNode.ts';
import type { DrainAction, TerminatingNodeView } from '../../model/disruption.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { existingNodesIn } from '../../nodeSource.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { InstanceList, NodeRecord } from '../../ports/nodes.ts';
import type { OperationSources } from '../../sources.ts';

/** Ensures that nodes whose turn it is are drained, or get back what they had. */
export function drainExistingNodes(s: ObservedState): Step[] {
  return drainSteps(s, nextDrainAction);
}

/** Ensures that nodes which are to go get their turn. */
export function admitExistingNodes(s: ObservedState): Step[] {
  return admissionSteps(s, (reservation) => ({ reservation }));
}

/** What is next for a node, from what was just seen of it. */
function nextDrainAction(view: TerminatingNodeView, s: ObservedState): DrainAction {
  const { entry, node, member } = view;
  const now = node.ok ? node.value : undefined;
  // What a node that leaves the pool gets back includes the cordon.
  const isReleased = s.membership?.toRelease.some(({ uid }) => uid === entry.uid);
  if (!now || isGone(view) || isReleased) return { kind: 'wait' };
  if (!isStillRequested(entry, now, s)) return { kind: 'restore' };
  if (!member?.ok) return entry.drained === undefined ? waitAction(entry, s) : { kind: 'wait' };
  if (!member.value)
    return { kind: 'restore', answer: 'refused', why: `${entry.name} is not one of the nodes of the pool` };
  // Somebody who takes the cordon from a node that was drained uses it again.
  if (entry.drained !== undefined)
    return isPrepared(now) ? { kind: 'wait' } : { kind: 'restore', answer: 'uncordoned' };
  if (isPrepared(now))
    return evictAction(view, now, s, { kind: 'report', text: describeDrained(entry, now, podsLeft(view, now, s)) });
  return isStillInBudget(entry, now, s) ? { kind: 'cordon' } : { kind: 'restore' };
}

/** How many pods are still on a node that is excluded from drain. */
function podsLeft({ entry, pods }: TerminatingNodeView, node: NodeRecord, s: ObservedState): number {
  return pods?.ok && isExcludedFromDrain(node) ? podsThatEnd(pods.value, entry, node, s.now) : 0;
}

/** The list of hosts that a pool of existing nodes names is read once for all of them. */
export async function looker(s: ObservedState, sources: OperationSources, signal: AbortSignal): Promise<Look> {
  const { instancesConfigMap } = existingNodesIn(s.pool.spec);
  const list = instancesConfigMap && (await sources.instanceLists.read(instancesConfigMap, signal));
  return (entry) => lookAtExisting(entry, list, s, sources, signal);
}

async function lookAtExisting(
  entry: LeavingNode,
  list: CallResult<InstanceList> | undefined,
  s: ObservedState,
  { nodes, drains, nodeMembership }: OperationSources,
  signal: AbortSignal,
): Promise<TerminatingNodeView> {
  const node = await nodes.read(entry.name, signal);
  const now = node.ok ? node.value : undefined;
  if (now?.uid !== entry.uid || !isStillRequested(entry, now, s)) return { entry, node };
  const member: CallResult<boolean> =
    list?.ok === false ? list : { ok: true, value: nodeMembership.confirms(s.pool, list?.value, now) };
  const isDone = entry.drained !== undefined || !member.ok || !member.value || !isPrepared(now);
  return { entry, node, member, ...(!isDone && { pods: await drains.podsOn(entry.name, signal) }) };
}
