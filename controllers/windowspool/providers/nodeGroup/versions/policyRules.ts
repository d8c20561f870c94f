/** What the policies of the spec leave as it is, although the group differs from the spec or a newer version exists: it is only reported. */

import type { RuleResult } from '../../../model/decisions.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { leave } from '../../../rules/ruleChains.ts';
import { timeOf } from '../../../util/durations.ts';
import { describeDifferences } from '../changes/describeDifferences.ts';
import { retryCommand } from '../changes/describeFailedChanges.ts';
import { pinnedMinor } from '../desired/desiredNodeGroup.ts';
import { describeReferenceDrift } from '../launchTemplate/describeReferenceDrift.ts';
import { endOfImage } from '../launchTemplate/image.ts';
import { hasLaunchSettings, isCustom } from '../launchTemplate/launchSettings.ts';
import type { EksDerived, Rollback } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { describeReleaseFailure, endOfFailure, failureOfRelease } from './releaseFailures.ts';
import { isNewerMinor, isNewerRelease, minorOf, normalizedRelease, releaseEnd } from './releaseVersion.ts';
import { templateIn } from './userLaunchTemplate.ts';

/** Ensures that drift is only reported with driftPolicy Report. */
export function keepReportedDrift(s: EksDerived): RuleResult | undefined {
  const { reported } = s.due.differences;
  const group = groupOf(s);
  if (reported.length === 0 || !group) return undefined;
  const remedy = 'Correct the node group or the spec, or set nodeGroup.driftPolicy: Correct.';
  return leave('Drifted', `Node group ${group.name} drifted from the spec: ${describeDifferences(reported)} ${remedy}`);
}

/**
 * Ensures that nodes which are newer than the control plane are reported, such as after it was rolled back without them. Which of both is to change, only the
 * user can tell. The version of a custom AMI is not known to EKS.
 */
export function keepNewerThanCluster({ pool, cluster, ...s }: EksDerived): RuleResult | undefined {
  const { kubernetesVersion, name } = groupOf(s) ?? {};
  if (!kubernetesVersion || isCustom(pool.spec) || cluster.kind !== 'seen' || pinnedMinor(pool.spec) !== undefined)
    return undefined;
  const { name: clusterName, kubernetesVersion: present } = cluster.cluster;
  if (!isNewerMinor(kubernetesVersion, present)) return undefined;
  return leave(
    'UnsupportedVersion',
    `Node group ${name} has Kubernetes ${kubernetesVersion}, and EKS cluster ${clusterName} runs ${present}. Nodes must not be newer than the control plane. Set nodeGroup.kubernetesVersion: "${present}", or upgrade the cluster.`,
  );
}

/** Ensures that an update to what a group was rolled back from is only reported: it would undo a rollback on purpose, such as before that of the cluster. */
export function keepRolledBackVersion(s: EksDerived): RuleResult | undefined {
  const { rollback } = s.due;
  const group = groupOf(s);
  if (rollback?.heldRelease === undefined || !group) return undefined;
  return leave('RolledBack', describeRollback(s, group, rollback, rollback.heldRelease));
}

function describeRollback(
  s: EksDerived,
  group: NodeGroup,
  { record: { from }, until }: Rollback,
  newest: string,
): string {
  const { update, releaseVersion: pinned } = nodeGroupIn(s.pool.spec);
  const { releaseVersion = '' } = group;
  const minor = minorOf(releaseVersion);
  const isAutomatic = update.policy === 'Automatic' && !pinned;
  const held =
    until === undefined
      ? `The next automatic update is to a release after ${newest}.`
      : `There is no automatic update to Kubernetes ${minorOf(from)} until the cluster has returned to ${minor}, or until ${timeOf(until)}, when EKS can no longer roll it back.`;
  const meaning = isAutomatic ? held : `The newest is ${newest}.`;
  const retry = isAutomatic ? `, or run: ${retryCommand(s.pool)}` : '.';
  return `Node group ${group.name} was rolled back from AMI release ${from} to ${releaseVersion}. ${meaning}${endOfRelease(s, group)} To update it now, set nodeGroup.releaseVersion: ${newest}${retry}`;
}

/**
 * Ensures that a newer release, or another version of what the spec only follows, is only reported with update.policy Manual, and for a pinned release.
 */
export function keepPresentVersion(s: EksDerived): RuleResult | undefined {
  const group = groupOf(s);
  if (!group || s.due.version?.isAutomatic) return undefined;
  const message = [newerRelease(s, group), newerTemplate(s, group)].filter((text) => text !== '').join(' ');
  return message === '' ? undefined : leave('UpdateAvailable', message);
}

/** Reports a newer AMI release than the group has; empty when there is none. */
function newerRelease(s: EksDerived, group: NodeGroup): string {
  const { pool, newestRelease } = s;
  const { releaseVersion = '' } = group;
  const newest = newestRelease?.ok ? newestRelease.value : undefined;
  const { kubernetesVersion, releaseVersion: pinned } = nodeGroupIn(pool.spec);
  // The update to a release that the spec pins is due, and reported as such.
  if (!newest || !releaseVersion || !isNewerRelease(newest, releaseVersion)) return '';
  if (pinned && normalizedRelease(pinned) === normalizedRelease(newest)) return '';
  const found = `Node group ${group.name} has AMI release ${releaseVersion}; the newest is ${newest}.${endOfRelease(s, group)}`;
  const failure = failureOfRelease(s, newest);
  if (failure) return `${found} ${describeReleaseFailure(failure)} Do not update to it until ${endOfFailure(failure)}.`;
  const field = kubernetesVersion && !pinned ? ' in addition to nodeGroup.kubernetesVersion' : '';
  const policy = pinned ? '' : ', or nodeGroup.update.policy: Automatic';
  return `${found} Set nodeGroup.releaseVersion: ${newest}${field}${policy}.`;
}

/** A warning about the age of the release or custom AMI of the group; empty if there is none. */
export function endOfRelease(s: EksState, { releaseVersion = '' }: NodeGroup): string {
  return isCustom(s.pool.spec) ? endOfImage(s) : releaseEnd(releaseVersion, s.now);
}

/** Reports that `$Latest` or `$Default` resolves to another version of the launch template than the group has; empty when it does not. */
function newerTemplate(s: EksDerived, group: NodeGroup): string {
  if (hasLaunchSettings(s.pool.spec)) return describeReferenceDrift(s, group);
  const { version } = s.due.followedTemplate ?? {};
  if (version === undefined || !group.launchTemplate) return '';
  const { name, version: present } = group.launchTemplate;
  const word = templateIn(s.pool.spec)?.version;
  return `Node group ${group.name} has version ${present} of launch template ${name}; ${word} is version ${version}. Set nodeGroup.launchTemplate.version: ${version}, or nodeGroup.update.policy: Automatic.`;
}
