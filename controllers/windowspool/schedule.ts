/** When to look again. Pure. Changes of nodes, RuntimeClasses and pools wake a pool by themselves; AWS has to be asked. */

import { nextUnhealthyAt } from './disruption/remediation.ts';
import { terminatingNodes } from './disruption/reservation.ts';
import { isGone } from './disruption/terminatingNode.ts';
import { groupOf, isDeleting, isLasting } from './facts.ts';
import { hashOf } from './hash.ts';
import { NODE_OPERATION } from './model/disruption.ts';
import type { ObservedState } from './model/observedState.ts';
import type { ReconcileResult } from './model/outcome.ts';
import type { StepError } from './model/stepError.ts';
import { hasNodeGroup, nodeGroupIn } from './poolKind.ts';
import type { CallError } from './ports/callResult.ts';
import { adoptionOf } from './providers/eks/adoption.ts';
import { failedTargetOf } from './providers/eks/failedTarget.ts';
import { isOwnedBy } from './providers/eks/nodeGroup.ts';
import { examinationOf, lastReported } from './providers/eks/prerequisites/examination.ts';
import { waitingForWindow } from './providers/eks/upgrades/automaticUpdates.ts';
import { nextOpening } from './providers/eks/upgrades/maintenance.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';

/** How long a failed look at AWS is trusted, so that a storm of node events does not become a storm of calls. */
const UNREACHABLE_KEPT_MS = 1_000;

/** Never sooner, so that nothing loops hot. */
const SHORTEST_MS = 100;

/** From the start of an operation of EKS to the first poll, unless `--poll-interval` is shorter. */
const FIRST_POLL_MS = 1_000;

/** The next run for a pool, from the situation after its steps. AWS is looked at again after `groupLookMs`. */
export function nextRun(s: ObservedState, groupLookMs: number): ReconcileResult {
  const own = s.errors.filter((entry) => !isAwsError(entry) && !isIpamError(entry)).map(({ error }) => error);
  const retried = [...own, ...awsErrorsOf(s)].find(({ kind }) => TRANSIENT.includes(kind));
  if (retried) return retry(retried);
  const again = own.length > 0 ? s.settings.deniedRetryMs : Number.POSITIVE_INFINITY;
  return {
    kind: 'requeueAfter',
    ms: Math.max(
      SHORTEST_MS,
      Math.min(groupLookMs, again, untilNodesLate(s), untilWindow(s), untilPass(s), nextUnhealthyAt(s) - s.now),
    ),
  };
}

/** When nodes that go are looked at next: at once when they have just got their turn. One that ends is waited for: its node's end wakes the pool. */
function untilPass({ pool, operations, settings, now }: ObservedState): number {
  const terminating = terminatingNodes(pool);
  if (terminating.length === 0) return Number.POSITIVE_INFINITY;
  const isEach = terminating.every(({ uid }) => operations?.nodes.some(({ entry }) => entry.uid === uid));
  if (!isEach) return SHORTEST_MS;
  // One that is gone leaves its place to the next.
  if (operations?.fresh && operations.nodes.some(isGone)) return SHORTEST_MS;
  // What becomes of one that is drained wakes the pool; the look that this asks for may have to wait a moment.
  if (operations?.fresh && terminating.every(({ drained }) => drained !== undefined)) return Number.POSITIVE_INFINITY;
  return terminating.every(({ ended }) => ended !== undefined) ? settings.pollMs : (operations?.nextAt ?? now) - now;
}

/** When the window begins for which an automatic update waits. */
function untilWindow(s: ObservedState): number {
  if (!hasNodeGroup(s.pool)) return Number.POSITIVE_INFINITY;
  const opening = waitingForWindow(s) && nextOpening(nodeGroupIn(s.pool.spec).update.maintenanceWindows, s.now);
  return opening ? opening.at - s.now : Number.POSITIVE_INFINITY;
}

/** Another try with growing delays. A conflict is everyday life, and no cause to log: somebody else wrote first. */
export function retry({ kind, operation, code, message }: CallError): ReconcileResult {
  return kind === 'conflict' ? { kind: 'requeue' } : { kind: 'requeue', cause: `${operation}: ${code}: ${message}` };
}

/** Trouble that passes: another try comes soon, with growing delays. */
const TRANSIENT: readonly string[] = ['throttled', 'unavailable', 'conflict'];

/**
 * The trouble that decides when AWS is looked at again: with AWS, and with the ConfigMap of Windows IPAM, which only a pool that has looked at AWS
 * writes to. Lasting trouble with Windows IPAM, which is a setting of the whole cluster, only delays a
 * group that is still to be created.
 */
function awsErrorsOf(s: ObservedState): CallError[] {
  const hasGroup = groupOf(s) !== undefined;
  return [
    ...s.errors
      .filter((entry) => (isIpamError(entry) ? !(hasGroup && isLasting(entry.error)) : isAwsError(entry)))
      .map(({ error }) => error),
    ...(s.group.kind === 'unreachable' ? [s.group.error] : []),
    ...(s.cluster.kind === 'unreachable' ? [s.cluster.error] : []),
  ];
}

function isIpamError({ step }: StepError): boolean {
  return isIpamStep({ kind: step });
}

/**
 * How long what AWS said is good for, in milliseconds. `statusAgeMs` is for how long this process has seen the group in its status: what EKS
 * has just begun is polled soon, and the interval doubles until it is `--poll-interval`.
 */
export function untilGroupLook(s: ObservedState, statusAgeMs: number): number {
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
  // Events tell of everything there; a look now and then is for what nobody thought of.
  if (!hasNodeGroup(s.pool)) return spread(s, settings.resyncMs);
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

/** When the first verdict or the wait for missing nodes turns without any event. */
function untilNodesLate(s: ObservedState): number {
  const { membership } = s;
  if (membership) {
    // A node that left is read before it is written to: not again while such calls fail.
    const isHeldUp = s.errors.some((entry) => !isAwsError(entry));
    const nextReadAt = isHeldUp ? Number.POSITIVE_INFINITY : membership.nextReadAt;
    return Math.min(s.poolNodes.nextGraceEnd, nextReadAt, membership.contention.until) - s.now;
  }
  const missing = s.poolNodes.total < (groupOf(s)?.scaling.desired ?? 0);
  const untilMissing = Math.min(s.settings.joinGraceMs, s.poolNodes.nextReadAt - s.now);
  return Math.min(s.poolNodes.nextGraceEnd - s.now, missing ? untilMissing : Number.POSITIVE_INFINITY);
}

/** Three quarters to five quarters of the interval, always the same for a pool: many pools do not ask at once. */
function spread({ pool }: ObservedState, ms: number): number {
  const share = Number.parseInt(hashOf(pool.metadata.uid).slice(0, 4), 16) / 0xffff;
  return Math.round(ms * (0.75 + share / 2));
}
