/**
 * Which pools lose nodes. A pool says so in `status.disruption` before it takes the first one away, and until it has its nodes again: each
 * such claim is a share of the one budget. Pure.
 *
 *   update due ──claimed──▶ EKS rolls ──▶ new nodes are verified ──released──▶
 */
import type { Outcome } from '../act.ts';
import type { WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import { isClusterMismatch, isPaused } from '../facts.ts';
import { timeOf } from '../failedTarget.ts';
import { isOwnedBy } from '../nodeGroup/nodeGroup.ts';
import type { VersionChange } from '../ports.ts';
import type { Situation } from '../situation.ts';
import { describeVersionChange } from '../steps.ts';
import { nextVersionChange } from './automaticUpdates.ts';

/** Why a pool loses nodes, and since when. */
export type Claim = NonNullable<WindowsPoolStatus['disruption']>;

/** Whether the pool has a share of the budget. */
export function isDisrupted({ status }: WindowsPool): boolean {
  return status?.disruption !== undefined;
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

/**
 * The claim that the pool keeps. It is held while EKS replaces nodes, and then until those that are there are all judged, for the join grace
 * at most: also where EKS does not tell how the update ended, or the others would wait for ever. A claim whose update never began (a crash
 * came between, or the wish is gone) ends here, too.
 */
export function nextClaim(outcome: Outcome): Claim | undefined {
  const s = outcome.after;
  const claim = s.pool.status?.disruption;
  const { group } = s;
  if (isClusterMismatch(s)) return undefined;
  if (group.kind === 'unreachable') return claim;
  if (group.kind === 'none' || group.kind === 'absent' || !isOwnedBy(s.pool, group.group)) return undefined;
  const { status, scaling } = group.group;
  if (status === 'UPDATING') return claim ? unsettled(claim) : isConfigUpdate(outcome) ? undefined : strangersClaim(s);
  if (!claim || (status !== 'ACTIVE' && status !== 'DEGRADED')) return undefined;
  const isUntold = s.troubles.some(({ step }) => step === 'describeUpdate');
  if (isOpen(s) && !isUntold) return claim;
  // Nodes that are missing are missing for another cause.
  if (isRefused(s) && claim.settlesBy === undefined) return undefined;
  const settlesBy = claim.settlesBy ?? timeOf(s.now + s.settings.joinGraceMs);
  const isSettled = !isUntold && s.roster.joining.length === 0 && s.roster.total >= scaling.desired;
  return isSettled || s.now >= Date.parse(settlesBy) ? undefined : { ...claim, settlesBy };
}

/** The claim while nodes go, whatever was thought before. */
function unsettled({ settlesBy: _before, ...claim }: Claim): Claim {
  return claim;
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

/** Whether EKS may still begin: the end of the update is not known, or the call was made and no answer came. */
function isOpen({ pool, update, troubles }: Situation): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  const unanswered = troubles.some(
    ({ step, trouble }) => step === 'updateNodeGroupVersion' && trouble.kind === 'unavailable',
  );
  return status === 'InProgress' || unanswered;
}
