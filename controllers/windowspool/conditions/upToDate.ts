/** The condition UpToDate: whether the node group matches the spec. Ready does not depend on it. */

import { describeOthers, waitsForBudget } from '../disruption/reservation.ts';
import type { Difference } from '../model/changes.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeGroupIn } from '../nodeSource.ts';
import type { NodeGroup } from '../ports/eks.ts';
import { isSetting, TEMPLATE } from '../providers/eks/applied.ts';
import {
  describeDifference,
  differencesOf,
  differencesToCorrect,
  reportedDrift,
} from '../providers/eks/differences.ts';
import { describeRetry, failedTargetOf } from '../providers/eks/failedTarget.ts';
import { configChangeFor, isUndone } from '../providers/eks/groupChanges.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf } from '../providers/eks/nodeGroup.ts';
import { desiredTemplateVersion, templateIn } from '../providers/eks/upgrades/launchTemplate.ts';
import { describeReleaseFailure, doubtAbout, failureOfRelease } from '../providers/eks/upgrades/releaseFailures.ts';
import { isNewerRelease, releaseEnd } from '../providers/eks/upgrades/releaseVersion.ts';
import { followedTemplate, isAheadOfCluster, versionChangeFor } from '../providers/eks/upgrades/versionChanges.ts';
import { groupOf, isClusterMismatch, isDeleting, isPaused } from '../queries.ts';
import type { Reason } from '../reasons.ts';
import { describeVersionChange } from '../steps/describeChange.ts';
import { joined, sentence } from '../util/words.ts';
import { automaticUpdate } from './automaticUpdate.ts';

/** The number of differences in a message. */
const DIFFERENCES_IN_MESSAGE = 10;

/** Whether the node group matches the spec. */
export function upToDate(s: ObservedState): ConditionState {
  const group = groupOf(s);
  if (isDeleting(s.pool)) return unknown('The pool is being deleted.');
  if (!group || isClusterMismatch(s) || !isOwnedBy(s.pool, group)) {
    return unknown(`There is no node group ${nodeGroupNameOf(s.pool)} of the pool to compare with the spec.`);
  }
  if (group.status !== 'ACTIVE' && group.status !== 'DEGRADED') {
    return unknown(`Node group ${group.name} is ${group.status}; it is compared with the spec when EKS is done.`);
  }
  return compare(s, group);
}

function compare(s: ObservedState, group: NodeGroup): ConditionState {
  const { pool } = s;
  const immutable = immutableDifferences(pool, group);
  if (immutable.length > 0) {
    const rest = differencesOf(pool, group);
    const beside = rest.length > 0 ? ` Beside that, ${listed(rest)}` : '';
    const message = `Node group ${group.name} differs in what EKS cannot change: ${sentence(joined(immutable))}${beside}`;
    return { status: 'False', reason: 'ImmutableDifference', message };
  }
  const drift = reportedDrift(pool, group);
  if (drift.length > 0) {
    const message = `Node group ${group.name}: ${listed(drift)} Put the group or the spec right, or set driftPolicy: Correct.`;
    return { status: 'False', reason: 'Drifted', message };
  }
  const open = differencesToCorrect(pool, group);
  const failed = failedTargetOf(s);
  if (failed) {
    const rest = open.length > 0 ? `${listed(open)} ` : '';
    const message = `Node group ${group.name}: ${rest}${sentence(failed.message)} ${describeRetry(failed)}`;
    return { status: 'False', reason: failed.reason as Reason, message };
  }
  const unfit = open.some(({ field }) => field === TEMPLATE) && desiredTemplateVersion(s) === undefined;
  if (unfit) {
    const message = `Node group ${group.name}: ${listed(open)} EKS would not take that version: see PrerequisitesMet.`;
    return { status: 'False', reason: 'LaunchTemplateUnfit', message };
  }
  const ahead = isAheadOfCluster(s) && open.some(({ field }) => isSetting(field) && field !== TEMPLATE);
  if (ahead) {
    const message = `Node group ${group.name}: ${listed(open)} The pinned version waits for the control plane: see PrerequisitesMet.`;
    return { status: 'False', reason: 'UnsupportedVersion', message };
  }
  if (waitsForBudget(s)) {
    const what = open.length > 0 ? listed(open) : automaticallyDue(s);
    const message = `Node group ${group.name}: ${what} The rolling update waits: ${describeOthers(s)}.`;
    return { status: 'False', reason: 'WaitingForBudget', message, working: true };
  }
  if (isUndone(s)) {
    const message = `Node group ${group.name}: ${listed(open)} It was just put right, and something else undid that. It is put right at the next look. Find what edits the group, or set driftPolicy: Report.`;
    return { status: 'False', reason: 'Drifted', message };
  }
  if (open.length > 0 || configChangeFor(pool, group)) {
    const what = open.length > 0 ? listed(open) : 'the desired size is to be sent.';
    const wait = isPaused(pool) ? 'It is changed when the pool is resumed.' : 'It is about to be changed.';
    return { status: 'False', reason: 'Outdated', message: `Node group ${group.name}: ${what} ${wait}${doubtOf(s)}` };
  }
  return assessScalingTags(s, group) ?? assessRelease(s, group);
}

/** Reports that the tags for the cluster-autoscaler could not be set. A denied call is reported in PrerequisitesMet. */
function assessScalingTags({ errors }: ObservedState, { name }: NodeGroup): ConditionState | undefined {
  const error = errors.find(({ step }) => step === 'correctScalingTags')?.error;
  if (!error || !['refused', 'limit', 'unknown'].includes(error.kind)) return undefined;
  const why = sentence(`${error.operation} failed: ${error.message}`);
  const message = `Node group ${name}: the cluster-autoscaler's tags of its scaling group could not be set: ${why} It is tried again.`;
  return { status: 'False', reason: 'Outdated', message };
}

/** Whether a newer AMI release or launch template version exists; nothing else differs. */
function assessRelease(s: ObservedState, group: NodeGroup): ConditionState {
  const { pool, now, newestRelease } = s;
  const automatic = automaticUpdate(s, group);
  if (automatic) return automatic;
  const { releaseVersion = '' } = group;
  const newest = newestRelease?.ok ? newestRelease.value : undefined;
  const end = releaseEnd(releaseVersion, now);
  const template = newerTemplate(s, group);
  if (newest && releaseVersion && isNewerRelease(newest, releaseVersion)) {
    const failure = failureOfRelease(s, newest);
    const warning = failure ? ` ${describeReleaseFailure(failure)}` : '';
    const field =
      nodeGroupIn(pool.spec).kubernetesVersion && !nodeGroupIn(pool.spec).releaseVersion ? ' beside it' : '';
    const message = `Node group ${group.name} has AMI release ${releaseVersion}, and ${newest} is the newest.${end}${warning} Set spec.nodeGroup.releaseVersion: ${newest}${field}${nodeGroupIn(pool.spec).releaseVersion ? '' : ', or update.policy: Automatic'}.${template && ` ${template}`}`;
    return { status: 'False', reason: 'UpdateAvailable', message };
  }
  if (template) return { status: 'False', reason: 'UpdateAvailable', message: `Node group ${group.name}: ${template}` };
  const unknown =
    newestRelease && !newestRelease.ok
      ? ` The newest AMI release is not known: ${sentence(`${newestRelease.error.operation} failed: ${newestRelease.error.message}`)}`
      : '';
  // For the newest release, its age is not reported: there is no update.
  const message = `Node group ${group.name} is as the spec says.${newest ? '' : end}${unknown}`;
  return { status: 'True', reason: 'AsSpecified', message };
}

/** The failure in another pool of the release that the spec pins; empty when there is none. */
function doubtOf(s: ObservedState): string {
  const change = versionChangeFor(s);
  const failure = change && doubtAbout(s, change);
  return failure ? ` ${describeReleaseFailure(failure)}` : '';
}

function automaticallyDue(s: ObservedState): string {
  const change = versionChangeFor(s);
  return `update.policy is Automatic and ${change ? describeVersionChange(change) : 'an update'} is due.`;
}

/** Reports that `$Latest` or `$Default` resolves to another version of the launch template than the group has; empty when it does not. */
function newerTemplate(s: ObservedState, group: NodeGroup): string {
  const { version } = followedTemplate(s, group) ?? {};
  if (version === undefined || !group.launchTemplate) return '';
  const { name, version: present } = group.launchTemplate;
  const word = templateIn(s.pool.spec)?.version;
  return `${word} of launch template ${name} is version ${version} now, and the node group has ${present}. Set spec.nodeGroup.launchTemplate.version: ${version}, or update.policy: Automatic.`;
}

function listed(differences: readonly Difference[]): string {
  const named = differences.slice(0, DIFFERENCES_IN_MESSAGE).map(describeDifference).join('; ');
  const more = differences.length - DIFFERENCES_IN_MESSAGE;
  return sentence(more > 0 ? `${named}; and ${more} more` : named);
}

function unknown(message: string): ConditionState {
  return { status: 'Unknown', reason: 'Pending', message };
}
