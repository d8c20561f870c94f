/**
 * The next action for a node that is replaced or removed by annotation, or remediated. Pure.
 *
 *   winpool.dev/replace=true --budget reserved--> cordoned --drained--> instance terminated --> node gone, another one joins
 *                                    |               |
 *                                    +---------------+--annotation removed, timeout, not a member--> uncordoned
 *
 * status.disruption.nodes records the terminating nodes. Operations on other nodes have not started.
 */
import type { LeavingNode, WindowsPool } from '../api/api.gen.ts';
import type { LEFT_ANSWER, TerminatingNodeView } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import { durationOf } from '../util/durations.ts';
import { type DrainOptions, drainOf, isEmpty, podsThatEnd } from './drain.ts';
import { isExcludedFromDrain } from './nodeAnnotations.ts';

/** The next action for a terminating node. */
export type DrainAction =
  /** Nothing is left to do. */
  | { readonly kind: 'done' }
  /** Nothing to do now. `why`: a sentence; absent if the state of the node shows that. `isBlocked`: pods need human action. */
  | { readonly kind: 'wait'; readonly why?: string; readonly isBlocked?: true }
  | { readonly kind: 'cordon' }
  | { readonly kind: 'evict'; readonly pods: readonly DrainPod[] }
  /** The step that terminates its instance or, if another tool does that, reports that it is drained. */
  | { readonly kind: 'end'; readonly step: Step }
  /** The node stays, or may come back; `answer` replaces the value of the annotation. */
  | {
      readonly kind: 'restore';
      readonly answer?: 'timed-out' | 'refused' | 'uncordoned' | typeof LEFT_ANSWER;
      readonly why?: string;
    };

/** The drain options of the spec. */
export function drainOptionsOf({ spec }: Pick<WindowsPool, 'spec'>): DrainOptions {
  // The defaults of the schema, for a spec without a drain.
  const {
    timeout = '15m',
    gracePeriod,
    podsWithEmptyDir = 'Evict',
    podsWithoutController = 'Block',
  } = spec.disruption?.drain ?? {};
  return {
    timeoutMs: durationOf(timeout),
    ...(gracePeriod !== undefined && { gracePeriodSeconds: durationOf(gracePeriod) / 1_000 }),
    evictsEmptyDir: podsWithEmptyDir === 'Evict',
    evictsBare: podsWithoutController === 'Evict',
  };
}

/** Waits for what is unknown until the drain times out: other pools may wait for the share of the budget, and other nodes for their turn. */
export function waitAction(entry: LeavingNode, s: ObservedState, why: string): DrainAction {
  return isTimedOut(entry, s) ? { kind: 'restore', answer: 'timed-out' } : { kind: 'wait', why };
}

/** Whether the drain has taken longer than its timeout. */
export function isTimedOut({ startTime }: LeavingNode, { pool, now }: ObservedState): boolean {
  return now - Date.parse(startTime) >= drainOptionsOf(pool).timeoutMs;
}

/** The next action for a cordoned node: `then` as soon as it is empty, or if it is excluded from drain. */
export function evictAction(
  { entry, pods }: TerminatingNodeView,
  now: NodeRecord,
  s: ObservedState,
  then: DrainAction,
): DrainAction {
  if (isExcludedFromDrain(now)) return then;
  if (!pods?.ok) return waitAction(entry, s, 'Its pods cannot be listed.');
  const options = drainOptionsOf(s.pool);
  const drain = drainOf(pods.value, { ready: now.ready, since: Date.parse(entry.startTime) }, options, s.now);
  if (isEmpty(drain)) return then;
  if (isTimedOut(entry, s)) return { kind: 'restore', answer: 'timed-out' };
  if (drain.evict.length > 0) return { kind: 'evict', pods: drain.evict };
  return { kind: 'wait', ...(drain.obstructions.length > 0 && { isBlocked: true }) };
}

/** How many pods terminate with a node that is excluded from drain; undefined for a node that is drained, and where its pods are not known. */
export function podsEndingWith(
  { entry, pods }: TerminatingNodeView,
  node: NodeRecord,
  now: number,
): number | undefined {
  return isExcludedFromDrain(node) && pods?.ok ? podsThatEnd(pods.value, entry, node, now) : undefined;
}
