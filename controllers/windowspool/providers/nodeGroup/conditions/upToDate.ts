/** The condition UpToDate: whether the node group matches the spec. Ready does not depend on it. */

import type { Reason } from '../../../api/reasons.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../../conditions/condition.ts';
import type { ConditionState } from '../../../model/conditions.ts';
import type { RunResult } from '../../../model/outcome.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { isDeleting, isPaused } from '../../../rules/poolQueries.ts';
import { restOf, waitOf } from '../../../rules/ruleChains.ts';
import { describeFailure, joined, sentence } from '../../../util/words.ts';
import { describeDifferences } from '../changes/describeDifferences.ts';
import { describeRetry, quoteOfUpdate } from '../changes/describeFailedChanges.ts';
import { fieldsOfChange } from '../changes/groupChanges.ts';
import { acceptsUpdates, isOwnedBy, nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { isCustom } from '../launchTemplate/launchSettings.ts';
import type { Difference } from '../model/changes.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, hasCluster, isClusterMismatch, rejectionOf } from '../observation/knownGroups.ts';
import { hasPassed, isOpen } from '../secondGroup/canary.ts';
import { describeSecondGroup, reasonOf, stageOf } from '../secondGroup/describeSecondGroup.ts';
import { canaryIn, canBeReplaced, isDraining, replacementIn } from '../secondGroup/secondGroup.ts';
import { hasSecond } from '../secondGroup/secondGroupStatus.ts';
import { describeVersionChange } from '../steps/describeChange.ts';
import { describeDueUpdate, faultInWindows } from '../versions/describeUpdate.ts';
import { endOfRelease } from '../versions/policyRules.ts';
import { describeReleaseFailure } from '../versions/releaseFailures.ts';
import { isPrivate } from '../versions/releaseVersion.ts';

/** Whether the node group matches the spec. */
export function upToDate(result: RunResult<EksDerived>): ConditionState {
  const { after: s } = result;
  const group = groupOf(s);
  if (isDeleting(s.pool)) return unknown('The pool is being deleted.');
  if (replacementIn(s.pool) && hasSecond(s) && !isClusterMismatch(s)) return replacing(s);
  if (!group || isClusterMismatch(s) || !isOwnedBy(s.pool, group)) {
    return unknown(`Node group ${nodeGroupNameOf(s.pool)} is not compared with the spec: ${whyUncompared(s, group)}.`);
  }
  if (!acceptsUpdates(group)) {
    const later = group.status.endsWith('FAILED') ? '' : ' until EKS has finished';
    return unknown(`Node group ${group.name} is ${group.status} and is not compared with the spec${later}.`);
  }
  return withCanary(s, compare(result, group));
}

/** The state of a pool with a canary: the nodes of one that has ended still leave, whatever else is to be reported. */
function withCanary(s: EksDerived, state: ConditionState): ConditionState {
  if (!canaryIn(s.pool)) return state;
  if (state.status === 'True') return inProgress(s);
  if (!isDraining(s)) return state;
  const { reason } = stageOf(s) === 'blocked' ? inProgress(s) : state;
  return { ...state, reason, message: `${describeSecondGroup(s)} ${state.message}` };
}

function inProgress(s: EksDerived, also = ''): ConditionState {
  return falseCondition(reasonOf(s), `${describeSecondGroup(s)}${also}`, 'working');
}

/** The state of a replacement; and the change that EKS rejected, if there is one. */
function replacing(s: EksDerived): ConditionState {
  const failed = s.due.failures.asked;
  return inProgress(s, failed && ` ${sentence(failed.message)} ${describeRetry(s, failed)}`);
}

/** How fields that EKS cannot change come about, or what to do about them. */
function remedyForImmutable({ after: s, decisions }: RunResult<EksDerived>): string {
  const { pool } = s;
  if (!canBeReplaced(pool))
    return 'Correct the spec, set nodeGroup.immutableChangePolicy: Replace, or create another pool.';
  const when = isPaused(pool)
    ? ' when the pool is resumed'
    : s.due.prerequisites.blocking.length > 0
      ? ' when the prerequisites are met. See PrerequisitesMet'
      : undefined;
  if (when === undefined) return waitOf(decisions, 'replacement')?.message ?? 'A new node group replaces it.';
  return `A new node group replaces it${when}.`;
}

function whyUncompared(s: EksState, group: NodeGroup | undefined): string {
  if (!hasCluster(s)) return 'the operator is not configured for an EKS cluster';
  if (isClusterMismatch(s)) return "this is not the pool's cluster";
  if (group) return 'it is not managed by this pool';
  if (s.group.kind === 'unconfirmed') return 'an unexpected answer of EKS is not confirmed yet';
  return s.group.kind === 'absent' ? 'it does not exist' : 'it cannot be read';
}

/**
 * What UpToDate reports of a node group that can be compared with the spec: the first that applies. What needs a user comes before what only waits, which
 * is not the order of the rules.
 */
const FINDINGS: readonly Finding[] = [
  immutableDifference,
  reportedDrift,
  failedChange,
  unmetPrerequisite,
  openCanary,
  blockedCanary,
  revertedCorrection,
  waitingUpdate,
  pendingChange,
  failedScalingTags,
  failedAutomaticUpdate,
  waitingAutomaticUpdate,
  availableUpdate,
];

type Finding = (result: RunResult<EksDerived>, group: NodeGroup) => ConditionState | undefined;

function compare(result: RunResult<EksDerived>, group: NodeGroup): ConditionState {
  for (const finding of FINDINGS) {
    const state = finding(result, group);
    if (state) return state;
  }
  return matchesSpec(result, group);
}

function immutableDifference(result: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { after: s } = result;
  const { pool } = s;
  const { all, ...differences } = s.due.differences;
  const immutable = canBeReplaced(pool) ? differences.unchangeable : differences.immutable;
  if (immutable.length === 0) return undefined;
  const others = all.length > 0 ? ` Other differences: ${describeDifferences(all)}` : '';
  const message = `Node group ${group.name} differs from the spec in fields that EKS cannot change: ${sentence(joined(immutable))}${others} ${remedyForImmutable(result)}`;
  const wait = waitOf(result.decisions, 'replacement');
  const isHeld = isPaused(pool) || s.due.prerequisites.blocking.length > 0 || (wait && !wait.progress);
  const isAbout = canBeReplaced(pool) && !isHeld;
  return falseCondition('ImmutableDifference', message, isAbout ? 'working' : undefined);
}

/** The change that the spec asks for, and that EKS refused or failed to make. */
function failedChange({ after: s }: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const failed = s.due.failures.asked;
  if (!failed) return undefined;
  const open = s.due.differences.toCorrect;
  const rest = open.length > 0 ? `${differing(group, open)} ` : '';
  const message = `${rest}${withoutNewNodes(s, group)}${sentence(failed.message)} ${describeRetry(s, failed)}`;
  return { ...falseCondition(failed.reason as Reason, message), ...quoteOfUpdate(s, failed) };
}

/** What a failed update leaves behind, with a space at its end; empty while new nodes can start from the release of the group. */
function withoutNewNodes({ pool, newestRelease, now }: EksState, { releaseVersion = '' }: NodeGroup): string {
  const newest = newestRelease?.ok ? newestRelease.value : undefined;
  const isGone = !isCustom(pool.spec) && isPrivate(releaseVersion, newest, now);
  return isGone ? 'New nodes cannot start from the current release. ' : '';
}

/** The prerequisite without which the group gets no other version. */
function unmetPrerequisite(
  { after: s, decisions }: RunResult<EksDerived>,
  group: NodeGroup,
): ConditionState | undefined {
  const wait = waitOf(decisions, 'prerequisites');
  if (wait?.message === undefined) return undefined;
  return falseCondition(wait.reason, `${differing(group, s.due.differences.toCorrect)} ${wait.message}`);
}

function openCanary({ after: s }: RunResult<EksDerived>): ConditionState | undefined {
  return isOpen(s) && !hasPassed(s) && !s.due.failures.automatic ? inProgress(s) : undefined;
}

function blockedCanary(result: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { version, prerequisites } = result.after.due;
  if (!version?.isCanaryDue || prerequisites.blocking.length === 0) return undefined;
  const wait = 'Its canary is created when the prerequisites are met. See PrerequisitesMet.';
  return falseCondition('UpdatePending', `${whatIsDue(result, group)} ${wait}`);
}

/** What the rolling update waits for. Corrections of settings, which do not wait for it, are reported before an automatic one. */
function waitingUpdate(result: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { after: s, decisions } = result;
  const wait = waitOf(decisions, 'version');
  if (!wait?.message || isPaused(s.pool) || AFTER_CORRECTIONS.includes(wait.reason)) return undefined;
  return falseCondition(wait.reason, `${whatIsDue(result, group)} ${wait.message}`, wait.progress && 'working');
}

/** Reasons for which an automatic update waits for hours or days. Their messages say what is due. */
const AFTER_CORRECTIONS: readonly Reason[] = ['WaitingForWindow', 'InvalidMaintenanceWindow', 'ReleaseNotVerified'];

function revertedCorrection({ after: s }: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  if (!s.due.config?.isUndone) return undefined;
  const open = s.due.differences.toCorrect;
  const message = `${differing(group, open)} The operator corrected this, and another client reverted it. The operator corrects it again within --resync-interval. Stop the other client, or set nodeGroup.driftPolicy: Report.`;
  return falseCondition('Drifted', message);
}

function pendingChange(result: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { after: s } = result;
  const open = s.due.differences.toCorrect;
  if (open.length === 0 && !s.due.config) return undefined;
  const size = `Node group ${group.name} does not have the new nodeGroup.scaling.desiredSize yet.`;
  const what = open.length > 0 ? differing(group, open) : size;
  return falseCondition('UpdatePending', `${what} ${whenUpdated(result)}${doubtOf(s)}`);
}

/** When a change that is due is sent, in a sentence. */
function whenUpdated({ after: s, decisions }: RunResult<EksDerived>): string {
  if (isPaused(s.pool)) return 'It is updated when the pool is resumed.';
  return waitOf(decisions, 'nodeGroup')?.message ?? 'It is about to be updated.';
}

function failedAutomaticUpdate({ after: s }: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { version, failures } = s.due;
  const failed = failures.automatic;
  if (!version?.isAutomatic || !failed) return undefined;
  const next = failed.reason === 'ReleaseNotOffered' ? '' : 'The next release is installed automatically. ';
  const message = `${describeDueUpdate(s, group, version)} ${sentence(failed.message)} ${next}${describeRetry(s, failed)}`;
  return { ...falseCondition(failed.reason as Reason, message), ...quoteOfUpdate(s, failed) };
}

/** What an automatic update waits for, or maintenance windows that never open. */
function waitingAutomaticUpdate(result: RunResult<EksDerived>, group: NodeGroup): ConditionState | undefined {
  const { after: s, decisions } = result;
  const { version } = s.due;
  if (!version?.isAutomatic) {
    const fault = faultInWindows(s.pool);
    return fault ? falseCondition('InvalidMaintenanceWindow', fault) : undefined;
  }
  const wait = waitOf(decisions, 'version');
  // These messages say what is due.
  if (wait?.message && !isPaused(s.pool) && AFTER_CORRECTIONS.includes(wait.reason))
    return falseCondition(wait.reason, wait.message);
  return falseCondition('UpdatePending', `${describeDueUpdate(s, group, version)} ${whenUpdated(result)}`);
}

/** Reports that the tags for the cluster-autoscaler could not be set. A denied call is reported in PrerequisitesMet. */
function failedScalingTags({ after: s }: RunResult<EksDerived>, { name }: NodeGroup): ConditionState | undefined {
  const error = rejectionOf(s, 'correctScalingTags')?.error;
  if (!error) return undefined;
  const why = describeFailure(error);
  const message = `The tags for the cluster-autoscaler cannot be set on the Auto Scaling group of node group ${name}. ${why} The operator retries.`;
  return falseCondition('UpdatePending', message);
}

function reportedDrift(result: RunResult<EksDerived>) {
  return resting(result, 'Drifted');
}

/** What update.policy leaves out, for a group that otherwise matches the spec. */
function availableUpdate(result: RunResult<EksDerived>) {
  return resting(result, 'UnsupportedVersion', 'RolledBack', 'UpdateAvailable');
}

function resting({ decisions }: RunResult<EksDerived>, ...reasons: Reason[]): ConditionState | undefined {
  const { reason, message } = restOf(decisions, 'policy') ?? {};
  if (reason === undefined || message === undefined || !reasons.includes(reason)) return undefined;
  return falseCondition(reason, message);
}

function matchesSpec({ after: s }: RunResult<EksDerived>, group: NodeGroup): ConditionState {
  const { newestRelease } = s;
  const unread =
    newestRelease && !newestRelease.ok
      ? ` The newest AMI release is unknown: ${describeFailure(newestRelease.error)}`
      : '';
  // For the newest release, its age is not reported: there is no update.
  const end = newestRelease?.ok && newestRelease.value ? '' : endOfRelease(s, group);
  return trueCondition('MatchesSpec', `Node group ${group.name} matches the spec.${end}${unread}`);
}

/** The failure in another pool of the release that the spec pins; empty when there is none. */
function doubtOf({ due: { version } }: EksDerived): string {
  return version?.releaseFailure ? ` ${describeReleaseFailure(version.releaseFailure)}` : '';
}

/** The change that is due and waits, in a sentence: without the settings that are sent now. */
function whatIsDue({ after: s, decisions }: RunResult<EksDerived>, group: NodeGroup): string {
  const { version, config, differences } = s.due;
  const isSent = !isPaused(s.pool) && decisions.some(({ about, steps }) => about === 'config' && steps.length > 0);
  const sent = isSent && config ? fieldsOfChange(s.pool, config.change) : [];
  const waiting = differences.toCorrect.filter(({ field }) => !sent.includes(field));
  if (waiting.length > 0) return differing(group, waiting);
  return `An automatic update of node group ${group.name} is due${version ? `: ${describeVersionChange(version.change)}` : ''}.`;
}

/** `Node group web differs from the spec: label tier is db (expected web).` */
function differing({ name }: NodeGroup, differences: readonly Difference[]): string {
  return `Node group ${name} differs from the spec: ${describeDifferences(differences)}`;
}

function unknown(message: string): ConditionState {
  return unknownCondition('Pending', message);
}
