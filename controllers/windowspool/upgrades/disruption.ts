/**
 * Which pools lose nodes. A pool says so in `status.disruption` before it takes the first one away, and until it has its nodes again: each
 * such claim is a share of the one budget. Pure.
 *
 *   update due ──claimed──▶ EKS rolls ──▶ new nodes are verified ──released──▶
 */
import type { Outcome } from '../act.ts';
import type { LeavingNode, WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import { isClusterMismatch, isDeleting, isPaused } from '../facts.ts';
import { timeOf } from '../failedTarget.ts';
import { isOwnedBy } from '../nodeGroup/nodeGroup.ts';
import { refusalOfEnd } from '../operations/endInstance.ts';
import { isGone, isNodeless } from '../operations/leavingSight.ts';
import { hasNodeGroup } from '../poolKind.ts';
import type { VersionChange } from '../ports/eks.ts';
import type { Situation } from '../situation.ts';
import { describeVersionChange } from '../steps.ts';
import { joined } from '../words.ts';
import { nextVersionChange } from './automaticUpdates.ts';

/** Why a pool loses nodes, and since when. */
export type Claim = NonNullable<WindowsPoolStatus['disruption']>;

/** The cause of a claim for nodes that go one by one. */
export const NODE_OPERATION = 'NodeOperation';

/** The nodes that go one by one, as status remembers them. */
export function leavingNodes({ status }: Pick<WindowsPool, 'status'>): readonly LeavingNode[] {
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
export function claimFor({ pool, now }: Situation, change: VersionChange, target: string): Claim {
  const before = pool.status?.disruption;
  const since = before?.target === target ? before.since : timeOf(now);
  const settling = before?.settlesBy !== undefined && { settlesBy: before.settlesBy };
  return { cause: 'Upgrade', target, change: describeVersionChange(change), since, ...settling };
}

/** Whether a rolling update is due, and must not begin because as many other pools as allowed lose nodes. */
export function waitsForBudget(s: Situation): boolean {
  const { pool, fleet, settings } = s;
  if (isDisrupted(pool) || isPaused(pool) || fleet.disrupted.length < settings.maxPoolsUpdating) return false;
  return s.group.kind === 'seen' && nextVersionChange(s) !== undefined;
}

/** Which other pools hold the budget. */
export function describeOthers({ fleet: { disrupted }, settings }: Situation): string {
  const verb = disrupted.length === 1 ? 'loses' : 'lose';
  return `${joined(disrupted)} ${verb} nodes now, and --max-pools-updating is ${settings.maxPoolsUpdating}`;
}

/**
 * The claim that the pool keeps. It is held while EKS replaces nodes, and then until those that are there are all judged, for the join grace
 * at most: also where EKS does not tell how the update ended, or the others would wait for ever. A claim whose update never began (a crash
 * came between, or the wish is gone) ends here, too.
 */
export function nextClaim(outcome: Outcome): Claim | undefined {
  const s = outcome.after;
  const claim = withNodesAsTheyAre(outcome);
  const { group } = s;
  if (!hasNodeGroup(s.pool)) return claim?.nodes && !isDeleting(s.pool) ? claim : undefined;
  if (isClusterMismatch(s)) return undefined;
  if (group.kind === 'unreachable') return claim;
  if (group.kind === 'none' || group.kind === 'absent' || !isOwnedBy(s.pool, group.group)) return undefined;
  const { status, scaling } = group.group;
  if (status === 'UPDATING') return claim ? unsettled(claim) : isConfigUpdate(outcome) ? undefined : strangersClaim(s);
  if (!claim || (status !== 'ACTIVE' && status !== 'DEGRADED')) return undefined;
  const isUntold = s.troubles.some(({ step }) => step === 'describeUpdate');
  if (claim.nodes || (isOpen(s) && !isUntold)) return claim;
  // Nodes that are missing are missing for another cause.
  if ((isRefused(s) || isIdle(s, claim)) && claim.settlesBy === undefined) return undefined;
  const settlesBy = claim.settlesBy ?? timeOf(s.now + s.settings.joinGraceMs);
  const isSettled = !isUntold && s.roster.joining.length === 0 && s.roster.total >= scaling.desired;
  return isSettled || s.now >= Date.parse(settlesBy) ? undefined : { ...claim, settlesBy };
}

/** The claim while nodes go, whatever was thought before. */
function unsettled({ settlesBy: _before, ...claim }: Claim): Claim {
  return claim;
}

/** Names of the nodes that are gone since the pool got its turn, as far as they are remembered, and those that are gone now. */
export function goneNodes({ pool, operations }: Pick<Situation, 'pool' | 'operations'>): readonly string[] {
  // A look that is told again shows nodes that status has counted among those that are gone.
  const known = new Set(leavingNodes(pool).map(({ uid }) => uid));
  const seen = operations?.nodes.filter(({ entry }) => known.has(entry.uid)) ?? [];
  const gone = seen.filter((sight) => isGone(sight) && !isNodeless(sight.entry));
  return [...(pool.status?.disruption?.gone ?? []), ...gone.map(({ entry }) => entry.name)];
}

/** As many names of nodes that are gone are remembered. */
const MOST_TOLD = 20;

/**
 * The claim without the nodes that are gone or stay after all, and with the time at which the end of the others was asked for. Without any
 * it is held like one for an update whose nodes were replaced.
 */
function withNodesAsTheyAre({ after, done }: Outcome): Claim | undefined {
  const { pool, operations, now } = after;
  const claim = pool.status?.disruption;
  if (!claim?.nodes) return claim;
  const gone = new Set(operations?.nodes.filter(isGone).map(({ entry }) => entry.uid));
  const restored = done.flatMap((step) => (step.kind === 'restoreNode' ? [step.node.uid] : []));
  const ended = done.flatMap((step) =>
    step.kind === 'endInstance' || step.kind === 'endLateInstance' ? [step.entry.uid] : [],
  );
  const drained = done.flatMap((step) => (step.kind === 'reportDrained' ? [step.entry.uid] : []));
  const { nodes, ...before } = claim;
  const went = goneNodes(after);
  const rest = went.length > 0 ? { ...before, gone: went.slice(-MOST_TOLD) } : before;
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
function strangersClaim({ now }: Situation): Claim {
  return { cause: 'Upgrade', change: 'an update that the operator did not begin', since: timeOf(now) };
}

/** Whether EKS said that it does not begin. */
function isRefused({ troubles }: Situation): boolean {
  return troubles.some(({ step, trouble }) => step === 'updateNodeGroupVersion' && trouble.kind !== 'unavailable');
}

/** Whether the claim was for instances that AWS does not end, and nothing else went. */
function isIdle(s: Situation, { gone = [] }: Claim): boolean {
  const entries = leavingNodes(s.pool);
  return entries.length > 0 && gone.length === 0 && entries.every((entry) => isKeptByAws(entry, s));
}

/** Whether it is an instance that never became a node and that AWS does not end: nothing has to be undone, and others may lose nodes. */
function isKeptByAws(entry: LeavingNode, s: Situation): boolean {
  return isNodeless(entry) && refusalOfEnd(entry.uid, Date.parse(entry.since), s) !== undefined;
}

/** Whether EKS may still begin: the end of the update is not known, or the call was made and no answer came. */
function isOpen({ pool, update, troubles }: Situation): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  const unanswered = troubles.some(
    ({ step, trouble }) => step === 'updateNodeGroupVersion' && trouble.kind === 'unavailable',
  );
  return status === 'InProgress' || unanswered;
}
