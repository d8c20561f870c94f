/** How nodes of a node group go one by one: what is read of them, what is next, and the end of their instances. */
import type { LeavingNode } from '../../api.gen.ts';
import { evictAction, isTimedOut, waitAction } from '../../disruption/drainAction.ts';
import { isPrepared } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget, restingGroup } from '../../disruption/nodeBudget.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { admissionSteps, drainSteps } from '../../disruption/rules.ts';
import { membershipMismatch, refusalOfEnd } from '../../disruption/terminateInstance.ts';
import { isGone, isNodeless } from '../../disruption/terminatingNode.ts';
import type { DrainAction, TerminatingNodeView } from '../../model/disruption.ts';
import { NODE_OPERATION } from '../../model/disruption.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { scalingIn } from '../../nodeSource.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { KnownInstance } from '../../ports/ec2.ts';
import type { OperationSources } from '../../sources.ts';
import { nodeGroupNameOf } from './nodeGroup.ts';
import { correctConfig } from './rules.ts';
import { nextVersionChange } from './upgrades/automaticUpdates.ts';

/** Ensures that no rolling update begins while nodes go one by one. What replaces no node does not wait for that. */
export function waitForTerminatingNodes(s: ObservedState): Step[] | undefined {
  const isLeaving = s.pool.status?.disruption?.cause === NODE_OPERATION;
  return isLeaving && nextVersionChange(s) ? (correctConfig(s) ?? []) : undefined;
}

/** Ensures that nodes whose turn it is are drained and their instances terminated, or get back what they had. */
export function drainNodes(s: ObservedState): Step[] {
  return drainSteps(s, nextDrainAction);
}

/** Ensures that nodes which are to go get their turn. */
export function admitNodes(s: ObservedState): Step[] {
  return admissionSteps(s, (reservation) => {
    if (s.cluster.kind !== 'seen') return undefined;
    const { name, arn } = s.cluster.cluster;
    return { cluster: { name, arn }, nodeGroupName: nodeGroupNameOf(s.pool), reservation };
  });
}

/** An instance that is still a node so long after its end was asked for is asked for again. */
const END_AGAIN_MS = 600_000;

/** What is next for a node, from what was just seen of it. */
function nextDrainAction(view: TerminatingNodeView, s: ObservedState): DrainAction {
  const { entry, node, instance } = view;
  const group = restingGroup(s);
  const now = node.ok ? node.value : undefined;
  const isThere = isNodeless(entry) ? node.ok && instance?.ok === true : now !== undefined;
  if (!group || !isThere || isGone(view)) return { kind: 'wait' };
  if (entry.ended !== undefined) return { kind: s.now - Date.parse(entry.ended) >= END_AGAIN_MS ? 'end' : 'wait' };
  if (!now || isNodeless(entry)) return { kind: 'end' };
  if (!isStillRequested(entry, now, s) || isSizeDeclared(entry, s)) return { kind: 'restore' };
  if (!isPrepared(now)) {
    if (!instance?.ok || s.counted?.ok === false) return waitAction(entry, s);
    const stranger = instance.value
      ? membershipMismatch({ ...entry, scalingGroups: group.autoScalingGroups }, instance.value)
      : `EC2 knows no instance ${entry.instance || 'that it says it is'}`;
    if (stranger) return { kind: 'restore', answer: 'refused', why: stranger };
    return isStillInBudget(entry, now, s, group) ? { kind: 'cordon' } : { kind: 'restore' };
  }
  return evictAction(view, now, s, terminateAction(entry, s));
}

/** The end of an empty node, unless AWS refused it: at once what would be refused again, and in the end also what somebody may allow yet. */
function terminateAction(entry: LeavingNode, s: ObservedState): DrainAction {
  const error = refusalOfEnd(entry.uid, Date.parse(entry.since), s);
  if (!error) return { kind: 'end' };
  const { kind, message: why } = error;
  if (kind === 'refused') return { kind: 'restore', answer: 'refused', why };
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out', why } : { kind: 'end' };
}

/**
 * Whether the user has said since how many nodes there are to be: then none is removed. The size is sent to EKS once, so a group that got
 * smaller after that would stay so.
 */
function isSizeDeclared({ operation }: LeavingNode, { pool }: ObservedState): boolean {
  return operation === 'Remove' && scalingIn(pool.spec).desired !== undefined;
}

/** Reads a node that goes, its instance until it is cordoned, and its pods from then on. */
export async function lookAt(
  entry: LeavingNode,
  s: ObservedState,
  sources: OperationSources,
  signal: AbortSignal,
): Promise<TerminatingNodeView> {
  const node = await sources.nodes.read(entry.name, signal);
  // EC2 takes no empty id for one that it does not know.
  const known = async (): Promise<CallResult<KnownInstance | undefined>> =>
    entry.instance === '' ? { ok: true, value: undefined } : sources.instances.find(entry.instance, signal);
  if (isNodeless(entry)) return { entry, node, instance: await known() };
  const now = node.ok ? node.value : undefined;
  if (now?.uid !== entry.uid || entry.ended !== undefined || !isStillRequested(entry, now, s)) return { entry, node };
  // Nothing is done to a node before its instance was found to be the pool's.
  if (!isPrepared(now)) return { entry, node, instance: await known() };
  return { entry, node, pods: await sources.drains.podsOn(entry.name, signal) };
}
