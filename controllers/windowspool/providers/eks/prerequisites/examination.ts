/** What the prerequisites come to for a pool. Pure. */

import type { Condition, WindowsPool } from '../../../api.gen.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { CheckInput, Examination, IpamOffer } from '../../../model/prerequisites.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import { isClusterMismatch, isDeleting, isLasting, isPaused, lacksNodes } from '../../../queries.ts';
import type { Reason } from '../../../reasons.ts';
import { isIpamStep } from '../../../steps/isIpamStep.ts';
import { isOwnedBy } from '../nodeGroup.ts';
import { examine, isPrerequisite } from './checks.ts';
import { ignoredPrerequisites } from './ignored.ts';

/** What the checks look at; undefined for a pool that goes, or whose cluster or group is not its own or not known. */
export function checkInputOf(s: ObservedState): CheckInput | undefined {
  const { pool, cluster, group, settings, prerequisites: facts } = s;
  if (!facts || cluster.kind !== 'seen' || isDeleting(pool) || isClusterMismatch(s)) return undefined;
  if (group.kind === 'seen' && !isOwnedBy(pool, group.group)) return undefined;
  return {
    spec: pool.spec,
    cluster: cluster.cluster,
    region: settings.region,
    facts,
    creating: isToBeMade(s),
    groupStatus: group.kind === 'seen' ? group.group.status : undefined,
    managesAccessEntry: nodeGroupIn(pool.spec).manageAccessEntry,
    ...(settings.enableWindowsIpam && !isPaused(pool) && { windowsIpam: ipamOfferOf(s) }),
    instances: Math.max(s.poolNodes.total + s.poolNodes.unlabelledNodes.length, s.instances?.length ?? 0),
    ignored: ignoredPrerequisites(pool),
  };
}

/** How the operator enables Windows IPAM for a pool that needs it. */
export function ipamOfferOf({ now, settings, ipamAttempts: attempts = {}, errors }: ObservedState): IpamOffer {
  const { pollMs, resyncMs, createRetryMs } = settings;
  const error = errors.find(({ step, error: { kind } }) => isIpamStep({ kind: step }) && kind !== 'denied')?.error;
  return {
    now,
    attempts,
    error: error && isLasting(error) ? error : undefined,
    pollMs,
    resyncMs,
    createRetryMs,
  };
}

/** The result of every check that can be made; undefined where none is made. */
export function examinationOf(s: ObservedState): Examination | undefined {
  const input = checkInputOf(s);
  return input && examine(input);
}

/** What keeps the node group from being created: every prerequisite that failed, while there is no group. */
export function blockers(s: ObservedState): Examination['failed'] {
  return isToBeMade(s) ? (examinationOf(s)?.failed ?? []) : [];
}

/** Whether the group is still to be made: there is none, or only what is left of a failed creation. */
export function isToBeMade({ group }: ObservedState): boolean {
  return group.kind === 'absent' || (group.kind === 'seen' && group.group.status === 'CREATE_FAILED');
}

/**
 * How much is asked.
 * - `nothing`: the pool goes, or it is not the operator's to judge.
 * - `standing`: what can turn behind the back of a group that looks healthy. Cheap, and trusted for long.
 * - `complete`: everything, because a group is to be made or something is wrong.
 */
export type Scope = 'nothing' | 'standing' | 'complete';

/** The statuses of a group of which something went wrong. */
const BROKEN = ['CREATE_FAILED', 'DEGRADED'];
/** What is told of prerequisites that could not be checked. */
const UNCHECKED = ['AccessDenied', 'NotChecked'];
/** Reasons of PrerequisitesMet=True with something in the message that stays there for as long as it is true. */
const REMARKED: readonly Reason[] = ['MetWithWarnings', 'PrerequisitesIgnored'];
/** Reasons of PrerequisitesMet that tell of a call and take the place of what was known before. */
const HIDING: readonly Reason[] = ['AWSUnavailable', 'AccessDenied'];
/** What a node fails when it is a prerequisite that is missing. */
const SYMPTOMS = ['NoPodAddresses', 'NotReady'];

/** What the pool's state asks for. */
export function scopeOf(s: ObservedState): Scope {
  const { pool, cluster, group } = s;
  if (isDeleting(pool) || cluster.kind !== 'seen' || isClusterMismatch(s)) return 'nothing';
  if (group.kind === 'unreachable' || group.kind === 'none') return 'nothing';
  if (group.kind === 'absent') return 'complete';
  if (!isOwnedBy(pool, group.group) || group.group.status === 'DELETING') return 'nothing';
  return wasUnmet(s) || wasRemarked(s) || wasHidden(s) || BROKEN.includes(group.group.status) || hasSymptoms(s)
    ? 'complete'
    : 'standing';
}

/** What the pool was told last: its condition PrerequisitesMet. */
export function lastReported({ status }: WindowsPool): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'PrerequisitesMet');
}

/** Whether the pool was told that a prerequisite is not met, or that it could not be checked: then it is looked at until it is. */
export function wasUnmet({ pool }: ObservedState): boolean {
  const reported = lastReported(pool);
  if (!reported || reported.status === 'True') return false;
  return isPrerequisite(reported.reason) || (reported.status === 'Unknown' && UNCHECKED.includes(reported.reason));
}

/** Whether the pool was told of a warning or of an ignored prerequisite: all is asked again, or the message would lose what is still true. */
function wasRemarked({ pool }: ObservedState): boolean {
  return REMARKED.some((reason) => reason === lastReported(pool)?.reason);
}

/** Whether a reason of PrerequisitesMet tells what the checks came to. */
export function isOfChecks(reason: string): boolean {
  return isPrerequisite(reason) || reason === 'NotChecked' || REMARKED.some((remarked) => remarked === reason);
}

/** Whether the trouble of a call took the place of what the pool was told before: only a complete look finds that again. */
export function wasHidden({ pool }: ObservedState): boolean {
  return HIDING.some((reason) => reason === lastReported(pool)?.reason);
}

/** Nodes are missing for too long, or fail what a missing prerequisite makes them fail. */
function hasSymptoms(s: ObservedState): boolean {
  return (
    lacksNodes(s) ||
    s.poolNodes.failing.some(({ failures }) => failures.some(({ reason }) => SYMPTOMS.includes(reason)))
  );
}

/** Whether more has to be asked than was. */
export function needsExamination(s: ObservedState): boolean {
  // Asked at each event of a node: the cheap question first.
  return !s.prerequisites?.complete && scopeOf(s) === 'complete';
}
