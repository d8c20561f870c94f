import { groupOf, isDeleting, isPaused } from '../facts.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';

/** The conditions in the order of status, with those that are there only while they are true. */
export function conclude<P extends Readonly<Record<string, ConditionState>>>(
  s: ObservedState,
  ready: ConditionState,
  parts: P,
  stalled: ConditionState | undefined,
) {
  const working = isAtRest(s) ? undefined : [ready, ...Object.values(parts)].find((finding) => finding.working);
  const held = (finding: ConditionState): ConditionState => ({
    status: 'True',
    reason: finding.reason,
    message: finding.message,
  });
  return {
    Ready: ready,
    ...parts,
    ...(working && !stalled && { Reconciling: held(working) }),
    ...(stalled && { Stalled: held(stalled) }),
    ...(isPaused(s.pool) && { Paused: assessPause(s) }),
  };
}

/** Whether nobody is at work: the operator is paused, and EKS has finished what it was asked for before. */
function isAtRest(s: ObservedState): boolean {
  return isPaused(s.pool) && !['CREATING', 'UPDATING', 'DELETING'].includes(groupOf(s)?.status ?? '');
}

function assessPause({ pool }: ObservedState): ConditionState {
  const how = pool.spec.paused ? 'spec.paused is true' : 'it has the annotation winpool.dev/paused';
  const going = isDeleting(pool) ? ' The deletion waits, too.' : '';
  return {
    status: 'True',
    reason: 'Paused',
    message: `Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`,
  };
}
