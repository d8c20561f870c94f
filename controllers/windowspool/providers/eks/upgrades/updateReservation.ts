/** The share of the disruption budget that a rolling update takes. Pure. */

import type { DisruptionReservation } from '../../../model/disruption.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { timeOf } from '../../../util/durations.ts';
import { describeVersionChange } from '../steps/describeChange.ts';

/**
 * The reservation for a rolling update. A reservation for the same target, made before a crash, keeps its time. A reservation that is about to settle
 * keeps its deadline: if this update does not start, the nodes of the last one are still joining.
 */
export function reservationFor(
  { pool, now }: ObservedState,
  change: VersionChange,
  target: string,
): DisruptionReservation {
  const before = pool.status?.disruption;
  const startTime = before?.target === target ? before.startTime : timeOf(now);
  const settling = before?.deadline !== undefined && { deadline: before.deadline };
  return { reason: 'Update', target, change: describeVersionChange(change), startTime, ...settling };
}
