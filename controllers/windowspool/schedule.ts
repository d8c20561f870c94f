/** When to reconcile again. Pure. Changes of nodes, RuntimeClasses and pools trigger a run; AWS must be polled. */

import { nextUnhealthyAt } from './disruption/remediation.ts';
import { terminatingNodes } from './disruption/reservation.ts';
import { isTerminated } from './disruption/terminatingNode.ts';
import type { Derived } from './model/due.ts';
import type { ObservedState } from './model/observedState.ts';
import type { ReconcileResult, RunResult } from './model/outcome.ts';
import type { CallError } from './ports/callResult.ts';
import { providerOf } from './providers/providers.ts';
import { isDeleting, isLasting } from './rules/poolQueries.ts';
import { SHORTEST_MS, TRANSIENT } from './rules/retryIntervals.ts';
import { nextUntil } from './rules/ruleChains.ts';
import { failedKindOf, isAwsError } from './steps/stepKinds.ts';

/** The next run for a pool. What is outside the cluster is read again after `untilReadMs`. */
export function nextRun({ after: s, decisions }: RunResult, untilReadMs: number): ReconcileResult {
  const provider = providerOf(s.pool);
  const own = s.errors
    .filter((entry) => !isAwsError(entry) && !failedKindOf(entry).waitsForRead)
    .filter(({ isRemembered, error }) => !isRemembered || isLasting(error))
    .map(({ error }) => error);
  const retried = [...own, ...(provider.outsideErrors?.(s) ?? [])].find(({ kind }) => TRANSIENT.includes(kind));
  if (retried) return retry(retried);
  const ownRetryMs = own.length > 0 ? s.settings.deniedRetryMs : Number.POSITIVE_INFINITY;
  return {
    kind: 'requeueAfter',
    ms: Math.max(
      SHORTEST_MS,
      Math.min(
        untilReadMs,
        ownRetryMs,
        untilNodesLate(s),
        s.poolNodes.nextPodAt - s.now,
        nextUntil(decisions, s.now) - s.now,
        provider.untilNextEvent?.(s) ?? Number.POSITIVE_INFINITY,
        untilPass(s),
        nextUnhealthyAt(s) - s.now,
      ),
    ),
  };
}

/**
 * When terminating nodes are checked next: at once when a node's turn has just begun. When every instance is terminating, the deletion of a Node
 * triggers a run.
 */
function untilPass({ pool, operations, settings, now }: ObservedState): number {
  const terminating = terminatingNodes(pool);
  // A pool that is being deleted drains no nodes.
  if (terminating.length === 0 || isDeleting(pool)) return Number.POSITIVE_INFINITY;
  const areAllKnown = terminating.every(({ uid }) => operations?.nodes.some(({ entry }) => entry.uid === uid));
  if (!areAllKnown) return SHORTEST_MS;
  // A node that is gone makes room for the next.
  if (operations?.fresh && operations.nodes.some(isTerminated)) return SHORTEST_MS;
  // A change of a drained node triggers a run; the read that it requests may have to wait a moment.
  if (operations?.fresh && terminating.every(({ drainedTime }) => drainedTime !== undefined))
    return Number.POSITIVE_INFINITY;
  return terminating.every(({ terminationAcceptedTime }) => terminationAcceptedTime !== undefined)
    ? settings.pollMs
    : (operations?.nextAt ?? now) - now;
}

/** Retries with exponential backoff. A conflict is expected, because another client wrote first, and is not logged. */
export function retry({ kind, operation, code, message }: CallError): ReconcileResult {
  return kind === 'conflict' ? { kind: 'requeue' } : { kind: 'requeue', cause: `${operation}: ${code}: ${message}` };
}

/** When the join grace of a node ends or the wait for missing nodes is over, without any event. */
function untilNodesLate(s: Derived): number {
  const { membership } = s;
  if (membership) {
    // A node that left the pool is read before it is written to: not again while such calls fail.
    const isHeldUp = s.errors.some((entry) => !isAwsError(entry));
    const nextReadAt = isHeldUp ? Number.POSITIVE_INFINITY : membership.nextReadAt;
    return Math.min(s.poolNodes.nextGraceEnd, nextReadAt, membership.contention.until) - s.now;
  }
  const missing = s.poolNodes.total < (s.due.capacity.desired ?? 0);
  const untilMissing = Math.min(s.settings.joinGraceMs, s.poolNodes.nextReadAt - s.now);
  return Math.min(s.poolNodes.nextGraceEnd - s.now, missing ? untilMissing : Number.POSITIVE_INFINITY);
}

/** How long what was read from outside the cluster stays valid, in milliseconds. `statusAgeMs`: how long the group has had its status. */
export function untilNextRead(s: Derived, statusAgeMs: number): number {
  return providerOf(s.pool).untilNextRead(s, statusAgeMs);
}
