/** What a rolling update waits for: prerequisites, and the rules before it in its chain. Other changes of the group are not delayed. */

import type { Reason } from '../../../api/reasons.ts';
import { describeOpening } from '../../../disruption/maintenance.ts';
import { describeOthers } from '../../../disruption/reservation.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import { waitFor, waitMeanwhile } from '../../../rules/ruleChains.ts';
import { isSetting, isTemplateField, launchSettingOf, TEMPLATE } from '../changes/appliedFields.ts';
import { failureOf, isRetriable, NOT_OFFERED, reasonOf } from '../changes/describeFailedChanges.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { describeDueUpdate, faultInWindows, overrideFor } from './describeUpdate.ts';
import { describeReleaseFailure, describeWait } from './releaseFailures.ts';
import { isAheadOfCluster } from './versionChanges.ts';

/** Ensures that a group gets no version of the launch template in the spec that EKS does not accept. */
export function waitForAcceptedTemplate({ due: { template, differences } }: EksDerived): RuleResult | undefined {
  if (template !== undefined || !differences.toCorrect.some(({ field }) => field === TEMPLATE)) return undefined;
  return waitForUser('LaunchTemplateInvalid', 'EKS does not accept this version.');
}

/** Ensures that a group gets no other version of the operator's launch template while one of its prerequisites is not met. */
export function waitForOwnTemplate({ due: { differences, prerequisites } }: EksDerived): RuleResult | undefined {
  if (!differences.toCorrect.some(({ field }) => launchSettingOf(field) !== undefined)) return undefined;
  const failed = prerequisites.results?.failed.map(({ check }) => check.reason) ?? [];
  const reason = OF_OWN_TEMPLATE.find((each) => failed.includes(each));
  return reason && waitForUser(reason, 'The launch template cannot be changed.');
}

const OF_OWN_TEMPLATE = [
  'LaunchTemplateNotOwned',
  'LaunchTemplateNotFound',
  'LaunchTemplateInvalid',
  'SecurityGroupNotFound',
  'AMIInvalid',
  'UserDataNotFound',
  'UserDataInvalid',
] as const;

/** Ensures that no node is newer than the control plane, which must be upgraded first. */
export function waitForControlPlane(s: EksDerived): RuleResult | undefined {
  const isDue = s.due.differences.toCorrect.some(({ field }) => isSetting(field) && !isTemplateField(field));
  if (!isDue || !isAheadOfCluster(s)) return undefined;
  return waitForUser('UnsupportedVersion', 'The control plane must be upgraded first.');
}

function waitForUser(reason: Reason, why: string): RuleResult {
  return waitFor(reason, 'read', { message: `${why} See PrerequisitesMet.` });
}

/** Ensures that a group gets no version of a launch template that could not be read: the known one may be outdated. */
export function waitForLaunchTemplate(s: EksDerived): RuleResult | undefined {
  const isUnknown = hasLaunchSettings(s.pool.spec) && s.ownTemplate === undefined;
  if (!isUnknown || !s.due.version?.change.launchTemplate) return undefined;
  const message = 'The update waits until the launch template of the pool is read.';
  return waitMeanwhile('UpdatePending', 'read', { message, progress: true });
}

/**
 * Ensures that no automatic update begins while EKS changes the version of the cluster, which may be a rollback: it must not make nodes newer than the
 * control plane.
 */
export function waitForCluster({ due: { version } }: EksDerived): RuleResult | undefined {
  if (!version?.waitsForCluster) return undefined;
  const message = 'The update waits until EKS has updated the cluster, which may change its Kubernetes version.';
  return waitMeanwhile('ClusterNotActive', 'read', { message, progress: true });
}

/** Ensures that an automatic update begins only in a maintenance window. */
export function waitForMaintenanceWindow(s: EksDerived): RuleResult | undefined {
  const { version } = s.due;
  const group = groupOf(s);
  if (!version?.waitsForWindow || !group) return undefined;
  const { opening } = version;
  const what = describeDueUpdate(s, group, version);
  const when = opening ? ` The update starts at ${describeOpening(opening)}, in a maintenance window.` : '';
  const how = `${what}${when} To update now, ${overrideFor(s, group, version.change)}.`;
  const fault = faultInWindows(s.pool);
  const reason = fault ? 'InvalidMaintenanceWindow' : 'WaitingForWindow';
  const message = fault ? `${fault} ${how}` : how;
  return waitMeanwhile(reason, opening ? 'time' : 'watch', { message, ...(opening && { until: opening.at }) });
}

/** Ensures that a release which fails verification in one pool is not rolled out to others automatically. */
export function waitForVerifiedRelease(s: EksDerived): RuleResult | undefined {
  const { version } = s.due;
  const group = groupOf(s);
  if (!version?.waitsForRelease || !version.releaseFailure || !group) return undefined;
  const why = `${describeReleaseFailure(version.releaseFailure)} ${describeWait(version.releaseFailure)}`;
  const remedy = `To update anyway, ${overrideFor(s, group, version.change)}.`;
  return waitMeanwhile('ReleaseNotVerified', 'pools', {
    message: `${describeDueUpdate(s, group, version)} ${why} ${remedy}`,
  });
}

/** Ensures that no more pools than allowed lose nodes at a time. Changes that replace no node are not delayed. */
export function waitForBudget(s: EksDerived): RuleResult | undefined {
  if (!s.due.version?.waitsForBudget) return undefined;
  const message = `The rolling update waits: ${describeOthers(s)}.`;
  return waitMeanwhile('WaitingForBudget', 'pools', { message, progress: true });
}

/** Ensures that a failed rolling update is not sent again until the spec changes or the user requests a retry. */
export function skipFailedVersion({ due: { version, failures } }: EksDerived): RuleResult | undefined {
  if (!version?.hasFailed) return undefined;
  const failed = failureOf(failures, version.target);
  // What EKS did not offer yet is requested again at the next regular read, which may also find another release.
  const isRepeated = failed !== undefined && isRetriable(failed);
  return waitMeanwhile(
    isRepeated ? NOT_OFFERED : reasonOf(failed),
    version.isAutomatic || isRepeated ? 'read' : 'watch',
  );
}
