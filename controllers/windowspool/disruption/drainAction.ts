/**
 * What is next for a node that people have replaced or removed, by annotation, or that fails. Pure.
 *
 *   winpool.dev/replace=true --budget claimed--> cordoned --drained--> instance ended --> node gone, another one joins
 *                                   |               |
 *                                   +---------------+--annotation gone, time out, not a member--> as it was before
 *
 * status.disruption.nodes has those that go. What is not in it was not begun.
 */
import type { LeavingNode, WindowsPool } from '../api.gen.ts';
import { durationOf } from '../durations.ts';
import type { DrainAction, TerminatingNodeView } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import { scalingIn } from '../poolKind.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { type DrainOptions, drainOf, isEmpty } from './drain.ts';
import { isExcludedFromDrain, isPrepared } from './nodeAnnotations.ts';
import { isStillInBudget, restingGroup } from './nodeBudget.ts';
import { isStillRequested } from './remediation.ts';
import { membershipMismatch, refusalOfEnd } from './terminateInstance.ts';
import { isGone, isNodeless } from './terminatingNode.ts';

export function drainOptionsOf({ spec }: Pick<WindowsPool, 'spec'>): DrainOptions {
  // As the schema says where there is a drain.
  const {
    timeout = '15m',
    gracePeriod,
    deleteEmptyDirData = true,
    evictBarePods = false,
  } = spec.disruption?.drain ?? {};
  return {
    timeoutMs: durationOf(timeout),
    ...(gracePeriod !== undefined && { gracePeriodSeconds: durationOf(gracePeriod) / 1_000 }),
    deleteEmptyDirData,
    evictBarePods,
  };
}

/** An instance that is still a node so long after its end was asked for is asked for again. */
const END_AGAIN_MS = 600_000;

/** What is next for a node, from what was just seen of it. */
export function nextDrainAction(view: TerminatingNodeView, s: ObservedState): DrainAction {
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

/** For what is not known, until it takes too long: other pools may wait for the share of the budget, and other nodes for this one. */
export function waitAction(entry: LeavingNode, s: ObservedState): DrainAction {
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out' } : { kind: 'wait' };
}

/** The end of an empty node, unless AWS refused it: at once what would be refused again, and in the end also what somebody may allow yet. */
function terminateAction(entry: LeavingNode, s: ObservedState): DrainAction {
  const error = refusalOfEnd(entry.uid, Date.parse(entry.since), s);
  if (!error) return { kind: 'end' };
  const { kind, message: why } = error;
  if (kind === 'refused') return { kind: 'restore', answer: 'refused', why };
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out', why } : { kind: 'end' };
}

function isTimedOut({ since }: LeavingNode, { pool, now }: ObservedState): boolean {
  return now - Date.parse(since) >= drainOptionsOf(pool).timeoutMs;
}

/** What is next for a cordoned node: `then` as soon as it is empty, or where it is not to be drained. */
export function evictAction(
  { entry, pods }: TerminatingNodeView,
  now: NodeRecord,
  s: ObservedState,
  then: DrainAction,
): DrainAction {
  if (isExcludedFromDrain(now)) return then;
  if (!pods?.ok) return waitAction(entry, s);
  const options = drainOptionsOf(s.pool);
  const drain = drainOf(pods.value, { ready: now.ready, since: Date.parse(entry.since) }, options, s.now);
  if (isEmpty(drain)) return then;
  if (isTimedOut(entry, s)) return { kind: 'restore', answer: 'timed-out' };
  return drain.evict.length > 0 ? { kind: 'evict', pods: drain.evict } : { kind: 'wait' };
}

/**
 * Whether the user has said since how many nodes there are to be: then none is removed. The size is sent to EKS once, so a group that got
 * smaller after that would stay so.
 */
function isSizeDeclared({ operation }: LeavingNode, { pool }: ObservedState): boolean {
  return operation === 'Remove' && scalingIn(pool.spec).desired !== undefined;
}
