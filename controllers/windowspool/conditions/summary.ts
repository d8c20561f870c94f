/**
 * The conditions of a pool from its parts. Pure.
 *
 *   NodeGroupReady  RuntimeClassReady  NodesVerified  PrerequisitesMet  UpToDate   each looks at its own part
 *   Ready                                                                          the summary of them
 *   NodesLeaving  Reconciling  Stalled  Paused                                     there only while true (kstatus)
 */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { groupOf, isDeleting, isPaused } from '../queries.ts';
import { type Parts, type Readiness, ready } from './ready.ts';

/** The conditions in the order of status, with those that are there only while they are true. */
export function summarize<P extends Parts>(s: ObservedState, parts: P, readiness: Readiness<P>) {
  const all: ConditionState[] = Object.values(parts);
  const mayStall = isDeleting(s.pool) ? readiness.stallsDeletion.map((type) => parts[type] as ConditionState) : all;
  const stalled = mayStall.find((condition) => condition.stalled);
  const summary = ready(s, parts, stalled, readiness);
  const working = isAtRest(s) ? undefined : [summary, ...all].find((condition) => condition.working);
  const isTrue = ({ reason, message }: ConditionState): ConditionState => ({ status: 'True', reason, message });
  return {
    Ready: summary,
    ...parts,
    ...(working && !stalled && { Reconciling: isTrue(working) }),
    ...(stalled && { Stalled: isTrue(stalled) }),
    ...(isPaused(s.pool) && { Paused: paused(s) }),
  };
}

/** Whether nobody is at work: the operator is paused, and EKS has finished what it was asked for before. */
function isAtRest(s: ObservedState): boolean {
  return isPaused(s.pool) && !['CREATING', 'UPDATING', 'DELETING'].includes(groupOf(s)?.status ?? '');
}

function paused({ pool }: ObservedState): ConditionState {
  const how = pool.spec.paused ? 'spec.paused is true' : 'it has the annotation winpool.dev/paused';
  const going = isDeleting(pool) ? ' The deletion waits, too.' : '';
  return {
    status: 'True',
    reason: 'Paused',
    message: `Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`,
  };
}
