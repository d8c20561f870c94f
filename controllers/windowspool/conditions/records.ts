/**
 * What the next run must know of the conditions, for status.tracking: nothing may depend on the reason, message or time of a condition in status.
 * It is written with the conditions. Pure.
 */
import type { PrerequisitesRecord, Tracking } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';
import type { ConditionSet, PrerequisitesState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { timeOf } from '../util/durations.ts';

/** The part of status.tracking that follows from the conditions. */
export function conditionRecords(s: ObservedState, conditions: ConditionSet): Tracking {
  const { Ready, PrerequisitesMet } = conditions;
  const prerequisites = prerequisitesRecord(s, PrerequisitesMet);
  const firstReadyTime =
    s.pool.status?.tracking?.firstReadyTime ?? (Ready.status === 'True' ? timeOf(s.now) : undefined);
  return {
    ...(firstReadyTime !== undefined && { firstReadyTime }),
    ...(Object.keys(prerequisites).length > 0 && { prerequisites }),
    ...(nodeSourceOf(s.pool).hasSize && {
      ...(Ready.status === 'True' && { ready: true }),
      ...missingNodes(s, conditions),
    }),
  };
}

/** The rest of status.tracking. */
export function withoutConditionRecords(tracking: Tracking): Tracking {
  const { prerequisites: _p, firstReadyTime: _f, ready: _r, joiningSince: _j, nodesMissing: _m, ...rest } = tracking;
  return rest;
}

/** Reasons of NodesVerified for nodes that have been missing for longer than the join grace, or cannot be counted. */
const MISSING: readonly Reason[] = ['NodesMissing', 'MembershipLabelRemoved', 'WrongOperatingSystem'];

function missingNodes({ pool, now }: ObservedState, { NodesVerified: { reason } }: ConditionSet): Tracking {
  if (MISSING.includes(reason)) return { nodesMissing: true };
  return reason === 'Joining' ? { joiningSince: pool.status?.tracking?.joiningSince ?? timeOf(now) } : {};
}

function prerequisitesRecord({ pool, now }: ObservedState, condition: PrerequisitesState): PrerequisitesRecord {
  const before = pool.status?.tracking?.prerequisites ?? {};
  if (condition.isEarlier) return before;
  const { result } = condition;
  const written = pool.status?.conditions?.find(({ type }) => type === 'PrerequisitesMet');
  const since = (written?.status === condition.status ? before.since : undefined) ?? timeOf(now);
  return {
    ...(result && { result }),
    ...(condition.status !== 'True' && { since }),
    ...(condition.remarks !== undefined && { remarks: condition.remarks }),
  };
}
