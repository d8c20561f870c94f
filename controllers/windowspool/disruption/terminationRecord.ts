/**
 * The record in status of terminations that are about to be requested. TerminateInstanceInAutoScalingGroup has no idempotency token: a request that
 * another replica sends while the first one is on its way can shrink the group twice. Pure.
 */
import type { LeavingNode, WindowsPoolStatus } from '../api/api.gen.ts';
import type { DisruptionReservation } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import { timeOf } from '../util/durations.ts';
import { isTermination, terminatedBy } from './terminateInstance.ts';

/**
 * Longer than a reconciliation and its last request may take (--reconcile-timeout), in milliseconds. The record has the time at which the
 * reconciliation began.
 */
const REQUEST_MS = 180_000;

/** Whether the termination may have been requested so recently that the request is still on its way. With short poll intervals, it is given less time. */
export function isOnItsWay(
  { terminationRequestTime }: LeavingNode,
  { now, settings }: Pick<ObservedState, 'now' | 'settings'>,
): boolean {
  if (terminationRequestTime === undefined) return false;
  return now - Date.parse(terminationRequestTime) < Math.min(REQUEST_MS, 9 * settings.pollMs);
}

/** The status with the record that these terminations are about to be requested. `now`: epoch milliseconds. */
export function withTerminations(
  status: WindowsPoolStatus | undefined,
  entries: readonly LeavingNode[],
  now: number,
): WindowsPoolStatus {
  const about = new Set(entries.map(({ uid }) => uid));
  const { disruption } = status ?? {};
  if (!disruption?.nodes) return { ...status };
  const nodes = disruption.nodes.map((entry) =>
    about.has(entry.uid) ? { ...entry, terminationRequestTime: timeOf(now) } : entry,
  );
  return { ...status, disruption: { ...disruption, nodes } };
}

/** What a reservation must not overwrite: the records that this run made before it. */
export function keepTerminations(
  status: WindowsPoolStatus | undefined,
  reservation: DisruptionReservation,
): DisruptionReservation {
  const recorded = new Map(status?.disruption?.nodes?.map((entry) => [entry.uid, entry]));
  if (!reservation.nodes) return reservation;
  return { ...reservation, nodes: reservation.nodes.map((entry) => recorded.get(entry.uid) ?? entry) };
}

/** The entry after a run: with the time at which AWS accepted the termination, and without a record of a request that was not sent. */
export function afterTermination(entry: LeavingNode, { after, done }: Pick<Outcome, 'after' | 'done'>): LeavingNode {
  const { terminationRequestTime, ...rest } = entry;
  const isAccepted = done.some((step) => terminatedBy(step)?.uid === entry.uid);
  if (isAccepted) return { ...rest, terminationAcceptedTime: timeOf(after.now) };
  const isRecorded = done.some(
    (step) => step.kind === 'recordTerminations' && step.entries.some(({ uid }) => uid === entry.uid),
  );
  return isRecorded && !isUnanswered(entry, after) ? rest : entry;
}

/** Whether AWS may have received the request of this run although it did not respond. */
function isUnanswered({ uid }: LeavingNode, { errors, now }: Outcome['after']): boolean {
  return errors.some(
    ({ step, target, at, error }) =>
      isTermination(step) &&
      target === uid &&
      at === now &&
      error.kind === 'unavailable' &&
      error.operation === 'TerminateInstanceInAutoScalingGroup',
  );
}
