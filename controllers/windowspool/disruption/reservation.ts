/**
 * Which pools lose nodes. A pool says so in `status.disruption` before it takes the first one away, and until it has its nodes again: each
 * such claim is a share of the one budget. Pure.
 *
 *   update due ──claimed──▶ EKS rolls ──▶ new nodes are verified ──released──▶
 */
import type { LeavingNode, WindowsPool } from '../api.gen.ts';
import type { DisruptionReservation } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import { nodeSourceOf } from '../nodeSource.ts';
import type { VersionChange } from '../ports/eks.ts';
import { isOwnedBy } from '../providers/eks/nodeGroup.ts';
import { nextVersionChange } from '../providers/eks/upgrades/automaticUpdates.ts';
import { isClusterMismatch, isDeleting, isPaused } from '../queries.ts';
import { describeVersionChange } from '../steps/describeChange.ts';
import { timeOf } from '../util/durations.ts';
import { joined } from '../util/words.ts';
import { refusalOfEnd } from './terminateInstance.ts';
import { isGone, isNodeless } from './terminatingNode.ts';

/** The nodes that go one by one, as status remembers them. */
export function terminatingNodes({ status }: Pick<WindowsPool, 'status'>): readonly LeavingNode[] {
  return status?.disruption?.nodes ?? [];
}

/**
 * Whether the pool has a share of the budget. One whose nodes are all drained, and wait for what made them, loses none: others must not wait
 * for that with it.
 */
export function isDisrupted({ status }: WindowsPool): boolean {
  const { nodes = [] } = status?.disruption ?? {};
  const isDone = nodes.length > 0 && nodes.every(({ drained }) => drained !== undefined);
  return status?.disruption !== undefined && !isDone;
}

/**
 * The claim for a rolling update. One that was made for the same before, by an operator that ended then, is kept; and of one that ends soon,
 * when it ends: should this update not begin, the nodes of the last one still join.
 */
export function reservationFor(
  { pool, now }: ObservedState,
  change: VersionChange,
  target: string,
): DisruptionReservation {
  const before = pool.status?.disruption;
  const since = before?.target === target ? before.since : timeOf(now);
  const settling = before?.settlesBy !== undefined && { settlesBy: before.settlesBy };
  return { cause: 'Upgrade', target, change: describeVersionChange(change), since, ...settling };
}

/** Whether a rolling update is due, and must not begin because as many other pools as allowed lose nodes. */
export function waitsForBudget(s: ObservedState): boolean {
  const { pool, fleet, settings } = s;
  if (isDisrupted(pool) || isPaused(pool) || fleet.disrupted.length < settings.maxPoolsUpdating) return false;
  return s.group.kind === 'seen' && nextVersionChange(s) !== undefined;
}

/** Which other pools hold the budget. */
export function describeOthers({ fleet: { disrupted }, settings }: ObservedState): string {
  const verb = disrupted.length === 1 ? 'loses' : 'lose';
  return `${joined(disrupted)} ${verb} nodes now, and --max-pools-updating is ${settings.maxPoolsUpdating}`;
}

/**
 * The claim that the pool keeps. It is held while EKS replaces nodes, and then until those that are there are all judged, for the join grace
 * at most: also where EKS does not tell how the update ended, or the others would wait for ever. A claim whose update never began (a crash
 * came between, or the wish is gone) ends here, too.
 */
export function nextReservation(outcome: Outcome): DisruptionReservation | undefined {
  const s = outcome.after;
  const reservation = withNodesAsTheyAre(outcome);
  const { group } = s;
  if (!nodeSourceOf(s.pool).rollsNodes) return reservation?.nodes && !isDeleting(s.pool) ? reservation : undefined;
  if (isClusterMismatch(s)) return undefined;
  if (group.kind === 'unreachable') return reservation;
  if (group.kind === 'none' || group.kind === 'absent' || !isOwnedBy(s.pool, group.group)) return undefined;
  const { status, scaling } = group.group;
  if (status === 'UPDATING')
    return reservation ? unsettled(reservation) : isConfigUpdate(outcome) ? undefined : strangersClaim(s);
  if (!reservation || (status !== 'ACTIVE' && status !== 'DEGRADED')) return undefined;
  const isUntold = s.errors.some(({ step }) => step === 'describeUpdate');
  if (reservation.nodes || (isOpen(s) && !isUntold)) return reservation;
  // Nodes that are missing are missing for another cause.
  if ((isRefused(s) || isIdle(s, reservation)) && reservation.settlesBy === undefined) return undefined;
  const settlesBy = reservation.settlesBy ?? timeOf(s.now + s.settings.joinGraceMs);
  const isSettled = !isUntold && s.poolNodes.joining.length === 0 && s.poolNodes.total >= scaling.desired;
  return isSettled || s.now >= Date.parse(settlesBy) ? undefined : { ...reservation, settlesBy };
}

/** The claim while nodes go, whatever was thought before. */
function unsettled({ settlesBy: _before, ...reservation }: DisruptionReservation): DisruptionReservation {
  return reservation;
}

/** Names of the nodes that are gone since the pool got its turn, as far as they are remembered, and those that are gone now. */
export function goneNodes({ pool, operations }: Pick<ObservedState, 'pool' | 'operations'>): readonly string[] {
  // A look that is told again shows nodes that status has counted among those that are gone.
  const known = new Set(terminatingNodes(pool).map(({ uid }) => uid));
  const seen = operations?.nodes.filter(({ entry }) => known.has(entry.uid)) ?? [];
  const gone = seen.filter((view) => isGone(view) && !isNodeless(view.entry));
  return [...(pool.status?.disruption?.gone ?? []), ...gone.map(({ entry }) => entry.name)];
}

/** As many names of nodes that are gone are remembered. */
const MAX_REPORTED = 20;

/**
 * The claim without the nodes that are gone or stay after all, and with the time at which the end of the others was asked for. Without any
 * it is held like one for an update whose nodes were replaced.
 */
function withNodesAsTheyAre({ after, done }: Outcome): DisruptionReservation | undefined {
  const { pool, operations, now } = after;
  const reservation = pool.status?.disruption;
  if (!reservation?.nodes) return reservation;
  const gone = new Set(operations?.nodes.filter(isGone).map(({ entry }) => entry.uid));
  const restored = done.flatMap((step) => (step.kind === 'uncordonNode' ? [step.node.uid] : []));
  const ended = done.flatMap((step) =>
    step.kind === 'terminateInstance' || step.kind === 'terminateUnregistered' ? [step.entry.uid] : [],
  );
  const drained = done.flatMap((step) => (step.kind === 'reportDrained' ? [step.entry.uid] : []));
  const { nodes, ...before } = reservation;
  const went = goneNodes(after);
  const rest = went.length > 0 ? { ...before, gone: went.slice(-MAX_REPORTED) } : before;
  const left = nodes
    .filter(({ uid }) => !gone.has(uid) && !restored.includes(uid))
    .filter((entry) => !isKeptByAws(entry, after))
    .map((entry) => (ended.includes(entry.uid) ? { ...entry, ended: timeOf(now) } : entry))
    .map((entry) => (drained.includes(entry.uid) ? { ...entry, drained: timeOf(now) } : entry));
  return left.length > 0 ? { ...rest, nodes: left } : rest;
}

/** Whether EKS works on an update of the operator that replaces no node. */
function isConfigUpdate({ after, accepted }: Outcome): boolean {
  const update = accepted?.update ?? after.pool.status?.nodeGroup?.update;
  return update?.type === 'ConfigUpdate' && update.status === 'InProgress';
}

/** Somebody else updates the group: nodes may go, whoever asked for it. */
function strangersClaim({ now }: ObservedState): DisruptionReservation {
  return { cause: 'Upgrade', change: 'an update that the operator did not begin', since: timeOf(now) };
}

/** Whether EKS said that it does not begin. */
function isRefused({ errors }: ObservedState): boolean {
  return errors.some(({ step, error }) => step === 'updateNodeGroupVersion' && error.kind !== 'unavailable');
}

/** Whether the claim was for instances that AWS does not end, and nothing else went. */
function isIdle(s: ObservedState, { gone = [] }: DisruptionReservation): boolean {
  const entries = terminatingNodes(s.pool);
  return entries.length > 0 && gone.length === 0 && entries.every((entry) => isKeptByAws(entry, s));
}

/** Whether it is an instance that never became a node and that AWS does not end: nothing has to be undone, and others may lose nodes. */
function isKeptByAws(entry: LeavingNode, s: ObservedState): boolean {
  return isNodeless(entry) && refusalOfEnd(entry.uid, Date.parse(entry.since), s) !== undefined;
}

/** Whether EKS may still begin: the end of the update is not known, or the call was made and no answer came. */
function isOpen({ pool, update, errors }: ObservedState): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  const unanswered = errors.some(
    ({ step, error }) => step === 'updateNodeGroupVersion' && error.kind === 'unavailable',
  );
  return status === 'InProgress' || unanswered;
}
