/**
 * Writes what a reconcile found to the pool's status, events and metrics, each only when it changes. Steps that reserve a share of the disruption
 * budget write their part of the status earlier, in disruption/disruptionBudget.ts. The texts of events are in reporting/poolEvents.ts.
 */
import type { WindowsPool } from './api/api.gen.ts';
import type { TimeSample } from './api/metricCatalogue.ts';
import { evaluateConditions } from './conditions/evaluateConditions.ts';
import { terminatingNodeCounts } from './disruption/leavingNodeSamples.ts';
import type { HeldStep } from './model/decisions.ts';
import type { RunResult } from './model/outcome.ts';
import type { CallError } from './ports/callResult.ts';
import type { Events, Metrics, Pools } from './ports/pools.ts';
import { publishDone, publishNews } from './reporting/poolEvents.ts';
import { samplesOf } from './reporting/poolSamples.ts';
import { statusFor } from './reporting/poolStatus.ts';
import type { StatusThrottle } from './reporting/statusThrottle.ts';
import { stepKindOf } from './steps/stepKinds.ts';
import { canonical } from './util/hash.ts';

/** Where a run reports to. */
export interface Reporter {
  readonly pools: Pools;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly statusThrottle: StatusThrottle;
}

/** The result of a report: the pool as stored now, when to report again, or why the status could not be written. */
export type ReportResult =
  | { readonly kind: 'reported'; readonly pool: WindowsPool }
  | { readonly kind: 'deferred'; readonly ms: number }
  | { readonly kind: 'failed'; readonly error: CallError };

/**
 * Reports the outcome of a run. Changes that come only from nodes may be deferred; what was done or learned from AWS is the operator's memory and is
 * written at once. Events and metrics never fail.
 */
export async function report(
  outcome: RunResult,
  held: readonly HeldStep[],
  urgent: boolean,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<ReportResult> {
  const { pool, now } = outcome.after;
  const { name } = pool.metadata;
  const assessment = evaluateConditions(outcome);
  const status = statusFor(outcome, assessment, held);
  publishDone(outcome, reporter);
  reporter.metrics.add(name, terminatingNodeCounts(outcome));
  if (outcome.released) {
    reporter.metrics.drop(name);
    return { kind: 'reported', pool };
  }
  reporter.metrics.show(name, samplesOf(outcome.after, assessment, status));
  if (pool.status !== undefined && canonical(pool.status) === canonical(status)) {
    reporter.metrics.stamp(name, confirmedAt(now));
    return { kind: 'reported', pool };
  }
  const isDone = outcome.done.some((step) => !stepKindOf(step).statusCanWait);
  const ms = urgent || pool.status === undefined || isDone ? 0 : reporter.statusThrottle.wait(name, now);
  if (ms > 0) return { kind: 'deferred', ms };
  const answer = await reporter.pools.writeStatus(pool, status, signal);
  if (!answer.ok) return { kind: 'failed', error: answer.error };
  reporter.statusThrottle.wrote(name, now);
  reporter.metrics.stamp(name, confirmedAt(now));
  reporter.metrics.stamp(name, {
    metric: 'windowspool_status_written_timestamp_seconds',
    labels: {},
    value: now / 1_000,
  });
  publishNews(outcome.after, assessment, status, reporter.events);
  return { kind: 'reported', pool: answer.value };
}

/** A sample that says that the status was correct at this time, in epoch milliseconds. */
export function confirmedAt(now: number): TimeSample {
  return { metric: 'windowspool_status_confirmed_timestamp_seconds', labels: {}, value: now / 1_000 };
}
