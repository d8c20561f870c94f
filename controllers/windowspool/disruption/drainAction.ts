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
import type { DrainAction, TerminatingNodeView } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { durationOf } from '../util/durations.ts';
import { type DrainOptions, drainOf, isEmpty } from './drain.ts';
import { isExcludedFromDrain } from './nodeAnnotations.ts';

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

/** For what is not known, until it takes too long: other pools may wait for the share of the budget, and other nodes for this one. */
export function waitAction(entry: LeavingNode, s: ObservedState): DrainAction {
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out' } : { kind: 'wait' };
}

export function isTimedOut({ since }: LeavingNode, { pool, now }: ObservedState): boolean {
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
