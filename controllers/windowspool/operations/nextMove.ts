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
import { scalingIn } from '../poolKind.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { Situation } from '../situation.ts';
import { type DrainOptions, drainOf, isEmpty } from './drain.ts';
import { refusalOfEnd, strangeness } from './endInstance.ts';
import { isGone, isNodeless, type LeavingSight } from './leavingSight.ts';
import { isStillInBudget, restingGroup } from './nodeBudget.ts';
import { isExcludedFromDrain, isPrepared } from './nodeOrders.ts';
import { isStillWanted } from './remediation.ts';

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

/** What is next for a node that goes. */
export type NextMove =
  /** Nothing to do now: it is gone, ends, or could not be looked at. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'cordon' }
  | { readonly kind: 'evict'; readonly pods: readonly DrainPod[] }
  | { readonly kind: 'end' }
  /** Something else ends it: that is told, and no more is done. */
  | { readonly kind: 'report' }
  /** It stays; `answer` takes the place of the annotation's value. */
  | { readonly kind: 'restore'; readonly answer?: 'timed-out' | 'refused' | 'uncordoned'; readonly why?: string };

/** An instance that is still a node so long after its end was asked for is asked for again. */
const END_AGAIN_MS = 600_000;

/** What is next for a node, from what was just seen of it. */
export function nextMove(sight: LeavingSight, s: Situation): NextMove {
  const { entry, node, instance } = sight;
  const group = restingGroup(s);
  const now = node.ok ? node.value : undefined;
  const isThere = isNodeless(entry) ? node.ok && instance?.ok === true : now !== undefined;
  if (!group || !isThere || isGone(sight)) return { kind: 'wait' };
  if (entry.ended !== undefined) return { kind: s.now - Date.parse(entry.ended) >= END_AGAIN_MS ? 'end' : 'wait' };
  if (!now || isNodeless(entry)) return { kind: 'end' };
  if (!isStillWanted(entry, now, s) || isSizeDeclared(entry, s)) return { kind: 'restore' };
  if (!isPrepared(now)) {
    if (!instance?.ok || s.counted?.ok === false) return waitingMove(entry, s);
    const stranger = instance.value
      ? strangeness({ ...entry, scalingGroups: group.autoScalingGroups }, instance.value)
      : `EC2 knows no instance ${entry.instance || 'that it says it is'}`;
    if (stranger) return { kind: 'restore', answer: 'refused', why: stranger };
    return isStillInBudget(entry, now, s, group) ? { kind: 'cordon' } : { kind: 'restore' };
  }
  return emptyingMove(sight, now, s, endingMove(entry, s));
}

/** For what is not known, until it takes too long: other pools may wait for the share of the budget, and other nodes for this one. */
export function waitingMove(entry: LeavingNode, s: Situation): NextMove {
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out' } : { kind: 'wait' };
}

/** The end of an empty node, unless AWS refused it: at once what would be refused again, and in the end also what somebody may allow yet. */
function endingMove(entry: LeavingNode, s: Situation): NextMove {
  const trouble = refusalOfEnd(entry.uid, Date.parse(entry.since), s);
  if (!trouble) return { kind: 'end' };
  const { kind, message: why } = trouble;
  if (kind === 'refused') return { kind: 'restore', answer: 'refused', why };
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out', why } : { kind: 'end' };
}

function isTimedOut({ since }: LeavingNode, { pool, now }: Situation): boolean {
  return now - Date.parse(since) >= drainOptionsOf(pool).timeoutMs;
}

/** What is next for a cordoned node: `then` as soon as it is empty, or where it is not to be drained. */
export function emptyingMove({ entry, pods }: LeavingSight, now: NodeRecord, s: Situation, then: NextMove): NextMove {
  if (isExcludedFromDrain(now)) return then;
  if (!pods?.ok) return waitingMove(entry, s);
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
function isSizeDeclared({ operation }: LeavingNode, { pool }: Situation): boolean {
  return operation === 'Remove' && scalingIn(pool.spec).desired !== undefined;
}
