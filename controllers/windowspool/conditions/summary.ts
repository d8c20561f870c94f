/**
 * The conditions of a pool from its parts. Pure.
 *
 *   NodeGroupReady  NodesFound  RuntimeClassReady  NodesVerified  PrerequisitesMet  UpToDate   each covers its own part
 *   Ready                                                                                      the summary of them: ready.ts
 *   RemediationAllowed                                                                         present only while false
 *   Disrupting  Reconciling  Stalled  Paused                                                   present only while true (kstatus)
 */

import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { RunResult } from '../model/outcome.ts';
import { isDeleting, isPaused } from '../rules/poolQueries.ts';
import { trueCondition } from './condition.ts';
import { disrupting } from './disrupting.ts';
import { type Parts, type Readiness, ready } from './ready.ts';
import { remediationAllowed } from './remediationAllowed.ts';
import { describeRetried } from './retriedSteps.ts';

/** The conditions of which each covers a part. `summarize` adds the others. */
export type PartsOf<C extends ConditionSet> = Omit<
  C,
  'Ready' | 'RemediationAllowed' | 'Disrupting' | 'Reconciling' | 'Stalled' | 'Paused'
>;

/** The conditions in the order of status, including those that are present only while true. */
export function summarize<P extends Parts>(result: RunResult, parts: P, readiness: Readiness<P>) {
  const { after: s } = result;
  const unhealthy = remediationAllowed(s);
  const leaving = disrupting(result);
  const all: ConditionState[] = Object.values(parts);
  const mayStall = isDeleting(s.pool) ? readiness.stallsDeletion.map((type) => parts[type] as ConditionState) : all;
  const stalled = mayStall.find((condition) => condition.stalled);
  const summary = ready(s, parts, stalled, readiness);
  const isIdle = isPaused(s.pool) && !readiness.isBusy?.(s);
  const working = isIdle ? undefined : [summary, ...all, leaving].find((condition) => condition?.working);
  const retried = describeRetried(s.errors, [summary, ...all, leaving]);
  const reconciling = retried
    ? trueCondition(working?.reason ?? 'Failed', working ? `${working.message} ${retried}` : retried)
    : working && trueCondition(working.reason, working.message);
  return {
    Ready: summary,
    ...parts,
    ...(unhealthy && { RemediationAllowed: unhealthy }),
    ...(leaving && { Disrupting: leaving }),
    ...(reconciling && !stalled && { Reconciling: reconciling }),
    ...(stalled && { Stalled: trueCondition(stalled.reason, stalled.message) }),
    ...(isPaused(s.pool) && { Paused: paused(s) }),
  };
}

function paused({ pool }: ObservedState): ConditionState {
  const how = pool.spec.paused ? 'spec.paused is true' : 'the pool has the annotation winpool.dev/paused';
  const deletion = isDeleting(pool) ? ' The deletion waits until the pool is resumed.' : '';
  return trueCondition(
    'Paused',
    `Changes are paused: ${how}.${deletion} status.pendingSteps shows the changes that are due.`,
  );
}
