/** The share of the disruption budget that a rolling update takes, and how long it is held. Pure. */

import { isIdle, withCurrentNodes } from '../../../disruption/reservation.ts';
import { type DisruptionReservation, NODE_REPLACEMENT } from '../../../model/disruption.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { isDeleting } from '../../../rules/poolQueries.ts';
import { timeOf } from '../../../util/durations.ts';
import { acceptsUpdates, isOwnedBy } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { desiredNodes, isClusterMismatch, isUnknown } from '../observation/knownGroups.ts';
import { isRetiring, nodesOfSecond, servingView } from '../secondGroup/secondGroup.ts';
import { describeVersionChange } from '../steps/describeChange.ts';

/**
 * The reservation for a rolling update. A reservation for the same target, made before a crash, keeps its time. While
 * nodes of the last update are still joining, its deadline is kept, because this update may never start.
 */
export function reservationFor({ pool, now }: EksState, change: VersionChange, target: string): DisruptionReservation {
  const before = pool.status?.disruption;
  const startTime = before?.target === target ? before.startTime : timeOf(now);
  const settling = before?.deadline !== undefined && { deadline: before.deadline };
  return { reason: 'Update', target, change: describeVersionChange(change), startTime, ...settling };
}

/** `status.disruption.change` while another client updates the node group. It takes a share of the budget, even if none is left. */
export const UNKNOWN_UPDATE = 'an update that the operator did not start';

/**
 * The reservation after a run. It is held while EKS replaces nodes, and then until all nodes are verified or failing, but no longer than the join
 * grace, even if EKS never reports the end of the update: otherwise, other pools would wait forever. It is released here if its update never started:
 * after a crash in between, or because the spec changed.
 */
export function nextReservation(outcome: Outcome<EksState>): DisruptionReservation | undefined {
  const s = outcome.after;
  const reservation = withCurrentNodes(outcome);
  const group = servingView(s);
  if (isClusterMismatch(s)) return undefined;
  if (isUnknown(group)) return reservation;
  if (group.kind === 'absent' || !isOwnedBy(s.pool, group.group)) return undefined;
  const { status } = group.group;
  if (status === 'UPDATING') {
    // A change that replaces no nodes does not extend the turn.
    if (isConfigUpdate(outcome)) return reservation;
    return reservation ? withoutDeadline(reservation) : foreignUpdateReservation(s);
  }
  // One odd answer that EKS works on the group must not cost the nodes their turn.
  if (['CREATING', 'DELETING'].includes(status) && !isDeleting(s.pool)) return reservation;
  if (!reservation || !acceptsUpdates(group.group)) return undefined;
  const isUpdateUnknown = s.errors.some(({ step }) => step === 'describeUpdate');
  if (reservation.nodes) return withoutDeadline(reservation);
  if (mayBeInProgress(s) && !isUpdateUnknown) return reservation;
  const isAmidDrain = reservation.reason === NODE_REPLACEMENT && isRetiring(s) && nodesOfSecond(s).length > 0;
  // The update did not start, so missing nodes have another cause.
  if ((isRefused(s) || isIdle(s, reservation)) && reservation.deadline === undefined) return undefined;
  const deadline = reservation.deadline ?? timeOf(s.now + s.settings.joinGraceMs);
  // Between two nodes of a group that is drained, all may be verified. If the next one does not begin, as in a paused pool, others get their turn.
  const isSettled =
    !isAmidDrain && !isUpdateUnknown && s.poolNodes.joining.length === 0 && s.poolNodes.total >= (desiredNodes(s) ?? 0);
  return isSettled || s.now >= Date.parse(deadline) ? undefined : { ...reservation, deadline };
}

/** The reservation while nodes are replaced: without the deadline of an earlier phase. */
function withoutDeadline({ deadline: _before, ...reservation }: DisruptionReservation): DisruptionReservation {
  return reservation;
}

/** Whether an update of the operator is in progress that replaces no nodes. */
function isConfigUpdate({ after, accepted }: Outcome<EksState>): boolean {
  const update = accepted?.update ?? after.pool.status?.nodeGroup?.update;
  return update?.type === 'ConfigUpdate' && update.status === 'InProgress';
}

/** Another client updates the group, which may disrupt nodes. */
function foreignUpdateReservation({ now }: EksState): DisruptionReservation {
  return { reason: 'Update', change: UNKNOWN_UPDATE, startTime: timeOf(now) };
}

/** Whether EKS refused to start the update. */
function isRefused({ errors }: EksState): boolean {
  return errors.some(({ step, error }) => step === 'updateNodeGroupVersion' && error.kind !== 'unavailable');
}

/** Whether the update may be in progress: it has not ended as far as is known, or EKS did not respond to the call. */
function mayBeInProgress({ pool, update, errors }: EksState): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  const unanswered = errors.some(
    ({ step, error }) => step === 'updateNodeGroupVersion' && error.kind === 'unavailable',
  );
  return status === 'InProgress' || unanswered;
}
