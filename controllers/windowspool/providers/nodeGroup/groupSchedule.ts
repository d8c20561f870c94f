/** When AWS is read again for a pool's node group. Pure. */

import { NODE_REPLACEMENT } from '../../model/disruption.ts';
import type { CallError } from '../../ports/callResult.ts';
import { isDeleting, isLasting, isPaused } from '../../rules/poolQueries.ts';
import { SHORTEST_MS, spread, TRANSIENT } from '../../rules/retryIntervals.ts';
import { isAwsError } from '../../steps/stepKinds.ts';
import { prerequisitesRecordOf } from './checks/prerequisitesRecord.ts';
import { isOwnedBy } from './desired/desiredNodeGroup.ts';
import type { EksDerived } from './model/groupDue.ts';
import type { EksState } from './model/groupState.ts';
import { confirmableAt } from './observation/confirmation.ts';
import { groupOf } from './observation/knownGroups.ts';
import { isOpen, isWhole, passesAt } from './secondGroup/canary.ts';
import { isDraining, isRecordLost, secondIn } from './secondGroup/secondGroup.ts';
import { isIpamStep } from './steps/isIpamStep.ts';

/** How long a failed read of AWS is cached, so that many node events do not cause as many calls. */
const UNREACHABLE_KEPT_MS = 1_000;

/** From the start of an operation of EKS to the first poll, unless `--poll-interval` is shorter. */
const FIRST_POLL_MS = 1_000;

/**
 * How long the answers of AWS are valid, in milliseconds. `statusAgeMs`: how long this process has observed the group in its status. A new
 * operation of EKS is polled soon, and the interval doubles up to `--poll-interval`.
 */
export function untilGroupRead(s: EksDerived, statusAgeMs: number): number {
  return Math.min(untilGroupChanges(s, statusAgeMs), untilPrerequisites(s));
}

/**
 * A prerequisite that is not met or unknown is checked soon, and less often the longer it lasts: a quick fix is noticed quickly, and a
 * lasting problem costs few calls.
 */
function untilPrerequisites(s: EksDerived): number {
  const checked = s.due.prerequisites.results;
  if (!checked || checked.failed.length + checked.unknown.length === 0) return Number.POSITIVE_INFINITY;
  return spread(s, lastingInterval(s, s.settings.pollMs));
}

/** `firstMs` at first, and longer the longer PrerequisitesMet has not been True, up to the resync interval. */
function lastingInterval({ pool, now, settings }: EksState, firstMs: number): number {
  const { since } = prerequisitesRecordOf(pool);
  const lasts = since === undefined ? 0 : now - Date.parse(since);
  return Math.max(firstMs, Math.min(lasts / 2, settings.resyncMs));
}

/**
 * The errors that decide when AWS is read again: errors of AWS, and of the ConfigMap of Windows IPAM, which only a pool that has read AWS writes.
 * Windows IPAM is a setting of the whole cluster: a lasting error there only delays a group that is still to be created.
 */
export function awsErrorsOf(s: EksState): CallError[] {
  const hasGroup = groupOf(s) !== undefined;
  return [
    ...s.errors
      .filter((entry) => (isIpamStep({ kind: entry.step }) ? !(hasGroup && isLasting(entry.error)) : isAwsError(entry)))
      .map(({ error }) => error),
    ...(s.group.kind === 'unreachable' ? [s.group.error] : []),
    ...(s.cluster.kind === 'unreachable' ? [s.cluster.error] : []),
  ];
}

function untilGroupChanges(s: EksDerived, statusAgeMs: number): number {
  const { settings } = s;
  const pollMs = Math.min(settings.pollMs, Math.max(FIRST_POLL_MS, statusAgeMs));
  // The prerequisite that blocked the creation was just fixed.
  if (s.ipamAttempts?.applyCniConfig === s.now) return SHORTEST_MS;
  const secondLook = untilSecondLook(s);
  if (secondLook !== undefined) return secondLook;
  const kinds = awsErrorsOf(s).map(({ kind }) => kind);
  // EC2 is eventually consistent: what was just written may not be visible yet.
  if (s.ownTemplate?.kind === 'seen' && s.ownTemplate.isNew) return spread(s, pollMs);
  // PrerequisitesMet reports it, and each read then reads all prerequisites.
  if (kinds.includes('denied') || kinds.includes('gone')) return lastingInterval(s, settings.deniedRetryMs);
  if (kinds.some((kind) => TRANSIENT.includes(kind))) return UNREACHABLE_KEPT_MS;
  if (kinds.includes('busy')) return spread(s, isRefusing(s) ? settings.resyncMs : settings.pollMs);
  if (awsErrorsOf(s).some(({ isTransient }) => isTransient)) return spread(s, settings.resyncMs);
  if (kinds.length > 0) return settings.createRetryMs;
  const group = groupOf(s);
  const untilSecond = untilSecondContinues(s);
  if (untilSecond !== undefined) return untilSecond;
  if (isDeleting(s.pool) && !(group && isOwnedBy(s.pool, group))) return spread(s, settings.pollMs);
  if (!group) {
    const failed = s.due.failures.asked;
    return failed ? untilRetry(s, Date.parse(failed.time)) : spread(s, settings.resyncMs);
  }
  if (!isOwnedBy(s.pool, group)) {
    const isChanging = group.status === 'DELETING' || s.due.adoption?.kind === 'wait';
    return spread(s, isChanging ? settings.pollMs : settings.resyncMs);
  }
  if (['CREATING', 'UPDATING', 'DELETING'].includes(group.status)) return spread(s, pollMs);
  if (group.status.endsWith('_FAILED')) return untilRetry(s, group.modifiedAt);
  if (isRecordLost(s)) return spread(s, isPaused(s.pool) ? settings.resyncMs : settings.pollMs);
  // Just adopted: its nodes are the pool's from now on, and its differences are corrected next.
  if (group.arn !== s.pool.status?.nodeGroup?.arn) return SHORTEST_MS;
  if (isUpdateOpen(s)) return spread(s, pollMs);
  // The group shrank, or waits for another node.
  const isLosing = s.pool.status?.disruption?.reason === NODE_REPLACEMENT;
  return spread(s, isLosing ? settings.pollMs : settings.resyncMs);
}

/** Until a request can confirm what was seen once of a group; undefined if that was nothing. */
function untilSecondLook({ group, second, settings, now }: EksState): number | undefined {
  const times = [group, ...(second ? [second] : [])].flatMap((view) => confirmableAt(view, settings) ?? []);
  return times.length > 0 ? Math.max(Math.min(...times) - now, SHORTEST_MS) : undefined;
}

/**
 * A second group is polled until it is gone: soon after the names have changed, when the group is created, and soon after the drain has begun, when the
 * second group shrinks. The interval doubles up to `--poll-interval`.
 */
function untilSecondContinues(s: EksDerived): number | undefined {
  const record = secondIn(s.pool);
  if (!record || isDeleting(s.pool)) return undefined;
  const isFailed = groupOf(s)?.status.endsWith('_FAILED') || s.due.failures.asked !== undefined;
  if (isFailed || isPaused(s.pool)) return undefined;
  if (record.absenceStartTime !== undefined) return spread(s, s.settings.pollMs);
  // A canary whose nodes are verified only needs time, and then an update of the main group.
  if (isOpen(s) && isWhole(s)) {
    const left = (passesAt(s) ?? s.now) - s.now;
    return left > 0 ? Math.min(Math.max(left, SHORTEST_MS), spread(s, s.settings.resyncMs)) : undefined;
  }
  const isHeld = s.due.prerequisites.blocking.length > 0;
  const age = isHeld
    ? s.settings.pollMs
    : s.now - Date.parse(isDraining(s) ? record.lastTransitionTime : record.startTime);
  return spread(s, Math.min(s.settings.pollMs, Math.max(FIRST_POLL_MS, age)));
}

/** EKS may refuse updates of a DEGRADED group for days. A pool that releases its group retries only for minutes. */
function isRefusing(s: EksState): boolean {
  return groupOf(s)?.status === 'DEGRADED' && !isDeleting(s.pool);
}

/**
 * Milliseconds until a failed call may be retried. If that time has passed unused, for example because the pool is paused, the resync
 * interval applies.
 */
function untilRetry(s: EksState, failedAt: number): number {
  const left = failedAt + s.settings.createRetryMs - s.now;
  return left > 0 ? left : spread(s, s.settings.resyncMs);
}

/** Whether the result of the operator's update is unknown although EKS no longer works on the group. */
function isUpdateOpen({ pool, update }: EksState): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  return status === 'InProgress';
}
