/**
 * Which pools disrupt nodes. A pool writes a reservation to `status.disruption` before it takes down its first node, and keeps it until its nodes are
 * back. Each reservation is a share of one budget for the whole cluster. Pure.
 *
 *   update due ──reserved──▶ EKS replaces nodes ──▶ new nodes are verified ──released──▶
 */
import type { LeavingNode, WindowsPool } from '../api/api.gen.ts';
import type { DisruptionReservation } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import { timeOf } from '../util/durations.ts';
import { joined } from '../util/words.ts';
import { drainOptionsOf } from './drainAction.ts';
import { terminationRefusal } from './terminateInstance.ts';
import { isNodeless, isTerminated } from './terminatingNode.ts';
import { afterTermination } from './terminationRecord.ts';

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
export function describeOthers({ otherPools: { disrupted }, settings }: ObservedState): string {
  const which = disrupted.length === 1 ? 'WindowsPool' : 'WindowsPools';
  const verb = disrupted.length === 1 ? 'is' : 'are';
  return `${which} ${joined(disrupted)} ${verb} replacing nodes, or ${verb} next (--max-pools-updating=${settings.maxPoolsUpdating})`;
}

/** Names of the nodes that are gone since the pool's turn began: those that status records, and those that are gone now. */
export function goneNodes({ pool, operations }: Pick<ObservedState, 'pool' | 'operations'>): readonly string[] {
  // A remembered drain state includes nodes that status already counts as gone.
  const known = new Set(terminatingNodes(pool).map(({ uid }) => uid));
  const seen = operations?.nodes.filter(({ entry }) => known.has(entry.uid)) ?? [];
  const gone = seen.filter((view) => isTerminated(view) && !isNodeless(view.entry));
  return [...(pool.status?.disruption?.terminatedNodes ?? []), ...gone.map(({ entry }) => entry.name)];
}

/** How many names of nodes that are gone status records. */
const MAX_REPORTED = 20;

/**
 * The reservation without nodes that are gone or stay, and with the times at which the others were terminated or drained. Without nodes it is held
 * like that of an update whose nodes were replaced.
 */
export function withCurrentNodes({ after, done }: Outcome): DisruptionReservation | undefined {
  const { pool, operations, now } = after;
  const reservation = pool.status?.disruption;
  if (!reservation?.nodes) return reservation;
  const gone = new Set(operations?.nodes.filter(isTerminated).map(({ entry }) => entry.uid));
  const restored = done.flatMap((step) => (step.kind === 'uncordonNode' ? [step.node.uid] : []));
  const givenUp = done.flatMap((step) => (step.kind === 'giveUpNode' ? [step.entry.uid] : []));
  const drained = done.flatMap((step) => (step.kind === 'reportDrained' ? [step.entry.uid] : []));
  const { nodes, ...before } = reservation;
  const goneNames = goneNodes(after);
  const rest = goneNames.length > 0 ? { ...before, terminatedNodes: goneNames.slice(-MAX_REPORTED) } : before;
  const remaining = nodes
    .filter(({ uid }) => !gone.has(uid) && !restored.includes(uid) && !givenUp.includes(uid))
    .filter((entry) => !isKeptByAws(entry, after) && !isAbandoned(entry, after))
    .map((entry) => afterTermination(entry, { after, done }))
    .map((entry) => (drained.includes(entry.uid) ? { ...entry, drainedTime: timeOf(now) } : entry));
  return remaining.length > 0 ? { ...rest, nodes: remaining } : rest;
}

/** How long after its drain has timed out a node that cannot be restored still holds the budget, in milliseconds. */
const ABANDONED_MS = 600_000;

/** Whether a node could not be restored long after its drain timed out: its kubelet can prevent every write to it, and other pools must not wait for that. */
function isAbandoned(entry: LeavingNode, { pool, now }: ObservedState): boolean {
  const { startTime, terminationRequestTime, terminationAcceptedTime, drainedTime } = entry;
  if (isNodeless(entry) || (terminationRequestTime ?? terminationAcceptedTime ?? drainedTime) !== undefined)
    return false;
  const sinceMs = now - Date.parse(startTime);
  // A record from the future would be held until then.
  return sinceMs >= drainOptionsOf(pool).timeoutMs + ABANDONED_MS || sinceMs < -ABANDONED_MS;
}

/** Whether the reservation was only for instances that AWS refuses to terminate, and no node is gone. */
export function isIdle(s: ObservedState, { terminatedNodes = [] }: DisruptionReservation): boolean {
  const entries = terminatingNodes(s.pool);
  return entries.length > 0 && terminatedNodes.length === 0 && entries.every((entry) => isKeptByAws(entry, s));
}

/** Whether it is an instance that did not join and that AWS refuses to terminate: nothing has to be undone, and other pools may proceed. */
function isKeptByAws(entry: LeavingNode, s: ObservedState): boolean {
  return isNodeless(entry) && terminationRefusal(entry.uid, Date.parse(entry.startTime), s) !== undefined;
}
