/**
 * Which pools disrupt nodes. A pool writes a reservation to `status.disruption` before it takes down its first node, and keeps it until its nodes are
 * back. Each reservation is a share of one budget for the whole cluster. Pure.
 *
 *   update due ──reserved──▶ EKS replaces nodes ──▶ new nodes are verified ──released──▶
 */
import type { LeavingNode, WindowsPool } from '../api.gen.ts';
import { type DisruptionReservation, NODE_REPLACEMENT } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import { nodeSourceOf } from '../nodeSource.ts';
import { acceptsUpdates, isOwnedBy } from '../providers/eks/nodeGroup.ts';
import { isRetiring, nodesOfOther, servingView } from '../providers/eks/replacement/replacement.ts';
import { desiredNodes, isClusterMismatch, isDeleting } from '../queries.ts';
import { timeOf } from '../util/durations.ts';
import { joined } from '../util/words.ts';
import { terminationRefusal } from './terminateInstance.ts';
import { isGone, isNodeless } from './terminatingNode.ts';
import { afterTermination } from './terminationRecord.ts';

/** The change in status of a pool whose node group another client updates. It takes a share of the budget, even if none is left. */
export const UNKNOWN_UPDATE = 'an update that the operator did not start';

/** The terminating nodes that status records. */
export function terminatingNodes({ status }: Pick<WindowsPool, 'status'>): readonly LeavingNode[] {
  return status?.disruption?.nodes ?? [];
}

/**
 * Whether the pool has a share of the budget. A pool whose nodes are all drained and only wait for their provisioner has none: other pools must not
 * wait for that too.
 */
export function isDisrupted({ status }: WindowsPool): boolean {
  const { nodes = [] } = status?.disruption ?? {};
  const isDone = nodes.length > 0 && nodes.every(({ drainedTime }) => drainedTime !== undefined);
  return status?.disruption !== undefined && !isDone;
}

/** Describes which other pools hold the budget. */
export function describeOthers({ fleet: { disrupted }, settings }: ObservedState): string {
  const which = disrupted.length === 1 ? 'WindowsPool' : 'WindowsPools';
  const verb = disrupted.length === 1 ? 'is' : 'are';
  return `${which} ${joined(disrupted)} ${verb} replacing nodes (--max-pools-updating=${settings.maxPoolsUpdating})`;
}

/**
 * The reservation after a run. It is held while EKS replaces nodes, and then until all nodes are verified or failing, but no longer than the join
 * grace: also when EKS does not report how the update ended, because other pools would wait forever. It is released here if its update never started:
 * after a crash in between, or because the spec changed.
 */
export function nextReservation(outcome: Outcome): DisruptionReservation | undefined {
  const s = outcome.after;
  const reservation = withCurrentNodes(outcome);
  const group = servingView(s);
  if (!nodeSourceOf(s.pool).rollsNodes) return reservation?.nodes && !isDeleting(s.pool) ? reservation : undefined;
  if (isClusterMismatch(s)) return undefined;
  if (group.kind === 'unreachable') return reservation;
  if (group.kind === 'none' || group.kind === 'absent' || !isOwnedBy(s.pool, group.group)) return undefined;
  const { status } = group.group;
  if (status === 'UPDATING')
    return reservation ? unsettled(reservation) : isConfigUpdate(outcome) ? undefined : foreignUpdateReservation(s);
  if (!reservation || !acceptsUpdates(group.group)) return undefined;
  const isUpdateUnknown = s.errors.some(({ step }) => step === 'describeUpdate');
  const isAmidDrain = reservation.reason === NODE_REPLACEMENT && isRetiring(s) && nodesOfOther(s).length > 0;
  if (reservation.nodes || isAmidDrain || (isOpen(s) && !isUpdateUnknown)) return reservation;
  // Nodes that are missing now are missing for another reason.
  if ((isRefused(s) || isIdle(s, reservation)) && reservation.deadline === undefined) return undefined;
  const deadline = reservation.deadline ?? timeOf(s.now + s.settings.joinGraceMs);
  const isSettled = !isUpdateUnknown && s.poolNodes.joining.length === 0 && s.poolNodes.total >= (desiredNodes(s) ?? 0);
  return isSettled || s.now >= Date.parse(deadline) ? undefined : { ...reservation, deadline };
}

/** The reservation while nodes are replaced: without the deadline of an earlier phase. */
function unsettled({ deadline: _before, ...reservation }: DisruptionReservation): DisruptionReservation {
  return reservation;
}

/** Names of the nodes that are gone since the pool's turn began: those that status records, and those that are gone now. */
export function goneNodes({ pool, operations }: Pick<ObservedState, 'pool' | 'operations'>): readonly string[] {
  // A remembered drain state includes nodes that status already counts as gone.
  const known = new Set(terminatingNodes(pool).map(({ uid }) => uid));
  const seen = operations?.nodes.filter(({ entry }) => known.has(entry.uid)) ?? [];
  const gone = seen.filter((view) => isGone(view) && !isNodeless(view.entry));
  return [...(pool.status?.disruption?.terminatedNodes ?? []), ...gone.map(({ entry }) => entry.name)];
}

/** How many names of nodes that are gone status records. */
const MAX_REPORTED = 20;

/**
 * The reservation without nodes that are gone or stay, and with the times at which the others were terminated or drained. Without nodes it is held
 * like that of an update whose nodes were replaced.
 */
function withCurrentNodes({ after, done }: Outcome): DisruptionReservation | undefined {
  const { pool, operations, now } = after;
  const reservation = pool.status?.disruption;
  if (!reservation?.nodes) return reservation;
  const gone = new Set(operations?.nodes.filter(isGone).map(({ entry }) => entry.uid));
  const restored = done.flatMap((step) => (step.kind === 'uncordonNode' ? [step.node.uid] : []));
  const givenUp = done.flatMap((step) => (step.kind === 'giveUpNode' ? [step.entry.uid] : []));
  const drained = done.flatMap((step) => (step.kind === 'reportDrained' ? [step.entry.uid] : []));
  const { nodes, ...before } = reservation;
  const goneNames = goneNodes(after);
  const rest = goneNames.length > 0 ? { ...before, terminatedNodes: goneNames.slice(-MAX_REPORTED) } : before;
  const remaining = nodes
    .filter(({ uid }) => !gone.has(uid) && !restored.includes(uid) && !givenUp.includes(uid))
    .filter((entry) => !isKeptByAws(entry, after))
    .map((entry) => afterTermination(entry, { after, done }))
    .map((entry) => (drained.includes(entry.uid) ? { ...entry, drainedTime: timeOf(now) } : entry));
  return remaining.length > 0 ? { ...rest, nodes: remaining } : rest;
}

/** Whether an update of the operator is in progress that replaces no nodes. */
function isConfigUpdate({ after, accepted }: Outcome): boolean {
  const update = accepted?.update ?? after.pool.status?.nodeGroup?.update;
  return update?.type === 'ConfigUpdate' && update.status === 'InProgress';
}

/** Another client updates the group, which may disrupt nodes. */
function foreignUpdateReservation({ now }: ObservedState): DisruptionReservation {
  return { reason: 'Update', change: UNKNOWN_UPDATE, startTime: timeOf(now) };
}

/** Whether EKS refused to start the update. */
function isRefused({ errors }: ObservedState): boolean {
  return errors.some(({ step, error }) => step === 'updateNodeGroupVersion' && error.kind !== 'unavailable');
}

/** Whether the reservation was only for instances that AWS refuses to terminate, and no node is gone. */
function isIdle(s: ObservedState, { terminatedNodes = [] }: DisruptionReservation): boolean {
  const entries = terminatingNodes(s.pool);
  return entries.length > 0 && terminatedNodes.length === 0 && entries.every((entry) => isKeptByAws(entry, s));
}

/** Whether it is an instance that did not join and that AWS refuses to terminate: nothing has to be undone, and other pools may proceed. */
function isKeptByAws(entry: LeavingNode, s: ObservedState): boolean {
  return isNodeless(entry) && terminationRefusal(entry.uid, Date.parse(entry.startTime), s) !== undefined;
}

/** Whether the update may be in progress: it has not ended as far as is known, or EKS did not respond to the call. */
function isOpen({ pool, update, errors }: ObservedState): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  const unanswered = errors.some(
    ({ step, error }) => step === 'updateNodeGroupVersion' && error.kind === 'unavailable',
  );
  return status === 'InProgress' || unanswered;
}
