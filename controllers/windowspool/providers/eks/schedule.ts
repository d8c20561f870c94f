/** When EKS is asked again about a pool's node group. Pure. */

import { awsErrorsOf, SHORTEST_MS, spread, TRANSIENT } from '../../intervals.ts';
import { NODE_OPERATION } from '../../model/disruption.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import { groupOf, isDeleting } from '../../queries.ts';
import { adoptionOf } from './adoption.ts';
import { failedTargetOf } from './failedTarget.ts';
import { isOwnedBy } from './nodeGroup.ts';
import { examinationOf, lastReported } from './prerequisites/examination.ts';
import { waitingForWindow } from './upgrades/automaticUpdates.ts';
import { nextOpening } from './upgrades/maintenance.ts';

/** How long a failed look at AWS is trusted, so that a storm of node events does not become a storm of calls. */
const UNREACHABLE_KEPT_MS = 1_000;

/** From the start of an operation of EKS to the first poll, unless `--poll-interval` is shorter. */
const FIRST_POLL_MS = 1_000;

/**
 * How long what AWS said is good for, in milliseconds. `statusAgeMs` is for how long this process has seen the group in its status: what EKS
 * has just begun is polled soon, and the interval doubles until it is `--poll-interval`.
 */
export function untilGroupRead(s: ObservedState, statusAgeMs: number): number {
  const pollMs = Math.min(s.settings.pollMs, Math.max(FIRST_POLL_MS, statusAgeMs));
  return Math.min(untilGroupChanges(s, pollMs), untilPrerequisites(s));
}

/**
 * A prerequisite that is not met or not known is looked at again soon, and less often the longer it lasts: someone who mends it at once
 * sees it at once, and nobody asks for ever what does not change.
 */
function untilPrerequisites(s: ObservedState): number {
  const checked = examinationOf(s);
  if (!checked || checked.failed.length + checked.unknown.length === 0) return Number.POSITIVE_INFINITY;
  return spread(s, lastingLook(s, s.settings.pollMs));
}

/** The interval at first, and longer the longer PrerequisitesMet has not been True, until it is that of a settled group. */
function lastingLook({ pool, now, settings }: ObservedState, firstMs: number): number {
  const reported = lastReported(pool);
  const lasts = reported && reported.status !== 'True' ? now - Date.parse(reported.lastTransitionTime) : 0;
  return Math.max(firstMs, Math.min(lasts / 2, settings.resyncMs));
}

function untilGroupChanges(s: ObservedState, pollMs: number): number {
  const { settings } = s;
  // What kept the group from being created was just put right.
  if (s.ipamAttempts?.applyCniConfig === s.now) return SHORTEST_MS;
  const kinds = awsErrorsOf(s).map(({ kind }) => kind);
  // PrerequisitesMet says so, and every look then is one at all prerequisites.
  if (kinds.includes('denied') || kinds.includes('gone')) return lastingLook(s, settings.deniedRetryMs);
  if (kinds.some((kind) => TRANSIENT.includes(kind))) return UNREACHABLE_KEPT_MS;
  if (kinds.includes('busy')) return spread(s, isRefusing(s) ? settings.resyncMs : settings.pollMs);
  if (awsErrorsOf(s).some(({ passes }) => passes)) return spread(s, settings.resyncMs);
  if (kinds.length > 0) return settings.createRetryMs;
  const group = groupOf(s);
  if (!group) {
    const failed = failedTargetOf(s);
    return failed ? untilRetry(s, Date.parse(failed.time)) : spread(s, settings.resyncMs);
  }
  if (!isOwnedBy(s.pool, group)) {
    const passes = group.status === 'DELETING' || adoptionOf(s.pool, group).kind === 'wait';
    return spread(s, passes ? settings.pollMs : settings.resyncMs);
  }
  if (['CREATING', 'UPDATING', 'DELETING'].includes(group.status)) return spread(s, pollMs);
  if (group.status.endsWith('_FAILED')) return untilRetry(s, group.modifiedAt);
  // Just adopted: its nodes are the pool's from now on, and what differs is next.
  if (group.arn !== s.pool.status?.nodeGroup?.arn) return SHORTEST_MS;
  if (isUpdateOpen(s)) return spread(s, pollMs);
  // The group got smaller, or waits for another node.
  const isLosing = s.pool.status?.disruption?.cause === NODE_OPERATION;
  return spread(s, isLosing ? settings.pollMs : settings.resyncMs);
}

/** EKS may take no update of a DEGRADED group, and that can last for days. A pool that leaves its group tries for minutes only. */
function isRefusing(s: ObservedState): boolean {
  return groupOf(s)?.status === 'DEGRADED' && !isDeleting(s.pool);
}

/** When what failed may be tried again. A time that is past was not used (the pool is paused, say): then there is no hurry. */
function untilRetry(s: ObservedState, failedAt: number): number {
  const left = failedAt + s.settings.createRetryMs - s.now;
  return left > 0 ? left : spread(s, s.settings.resyncMs);
}

/** Whether the end of the operator's update is not known although EKS no longer works on the group. */
function isUpdateOpen({ pool, update }: ObservedState): boolean {
  const status = update?.status ?? pool.status?.nodeGroup?.update?.status;
  return status === 'InProgress';
}

/** When the window begins for which an automatic update waits. */
export function untilWindow(s: ObservedState): number {
  const opening = waitingForWindow(s) && nextOpening(nodeGroupIn(s.pool.spec).update.maintenanceWindows, s.now);
  return opening ? opening.at - s.now : Number.POSITIVE_INFINITY;
}
