/** The part of UpToDate about automatic updates: an update that failed or waits, or a maintenance window that never opens. */

import type { ConditionState } from '../model/conditions.ts';
import type { Derived, DueVersion } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeGroupIn } from '../nodeSource.ts';
import type { NodeGroup, VersionChange } from '../ports/eks.ts';
import { describeRetry } from '../providers/eks/failedTarget.ts';
import { followsImage, selectedImage } from '../providers/eks/machine/image.ts';
import { hasMachine } from '../providers/eks/machine/machine.ts';
import { pinnedTemplateVersion, templateIn } from '../providers/eks/upgrades/launchTemplate.ts';
import { describeOpening, windowFault } from '../providers/eks/upgrades/maintenance.ts';
import { describeReleaseFailure, describeWait } from '../providers/eks/upgrades/releaseFailures.ts';
import { releaseEnd } from '../providers/eks/upgrades/releaseVersion.ts';
import { isPaused } from '../queries.ts';
import type { Reason } from '../reasons.ts';
import { joined, sentence } from '../util/words.ts';
import { falseCondition } from './condition.ts';

/** The state of the automatic update that is due, or of the maintenance windows; undefined when there is nothing to report. */
export function automaticUpdate(s: Derived, group: NodeGroup): ConditionState | undefined {
  const { version } = s.due;
  if (version?.isAutomatic) return assessDue(s, group, version);
  const fault = faultOf(s);
  return fault ? falseCondition('InvalidMaintenanceWindow', fault) : undefined;
}

function assessDue(s: Derived, group: NodeGroup, version: DueVersion): ConditionState {
  const { pool, now } = s;
  const { change, releaseFailure, opening } = version;
  const what = `Node group ${group.name} has ${joined(dueParts(s, group, change))}.${releaseEnd(group.releaseVersion ?? '', now)}`;
  const failed = s.due.failures.automatic;
  if (failed) {
    const next = failed.reason === 'ReleaseNotOffered' ? '' : 'The next release is installed automatically. ';
    const again = `${next}${describeRetry(pool, failed)}`;
    return falseCondition(failed.reason as Reason, `${what} ${sentence(failed.message)} ${again}`);
  }
  if (isPaused(pool)) return falseCondition('UpdatePending', `${what} It is updated when the pool is resumed.`);
  if (releaseFailure && version.waitsForRelease) {
    const remedy = `To update anyway, ${overrideFor(s, group, change)}.`;
    return falseCondition(
      'ReleaseNotVerified',
      `${what} ${describeReleaseFailure(releaseFailure)} ${describeWait(releaseFailure)} ${remedy}`,
    );
  }
  if (!version.waitsForWindow) return falseCondition('UpdatePending', `${what} It is about to be updated.`);
  const when = opening ? ` The update starts at ${describeOpening(opening)}, in a maintenance window.` : '';
  const remedy = `To update now, ${overrideFor(s, group, change)}.`;
  const fault = faultOf(s);
  if (fault) return falseCondition('InvalidMaintenanceWindow', `${fault} ${what}${when} ${remedy}`);
  return falseCondition('WaitingForWindow', `${what}${when} ${remedy}`);
}

/** The current versions, each with the target: `AMI release 1.36-2026.02.11 (newest: 1.36-2026.03.17)`. */
function dueParts(s: ObservedState, group: NodeGroup, change: VersionChange): string[] {
  const { releaseVersion, launchTemplate: seen } = group;
  const { version } = change.launchTemplate ?? {};
  const image = dueImage(s, group);
  return [
    ...(image === undefined ? [] : [`AMI ${releaseVersion} (in the SSM parameter: ${image})`]),
    ...(change.releaseVersion === releaseVersion || isOfTemplate(change) ? [] : [newerRelease(releaseVersion, change)]),
    ...(version === undefined
      ? []
      : [`version ${seen?.version} of launch template ${seen?.name} (desired: ${version})`]),
  ];
}

/** Whether the group has a custom AMI, and therefore no release. */
function isOfTemplate({ kubernetesVersion }: VersionChange): boolean {
  return kubernetesVersion === undefined;
}

function newerRelease(current: string | undefined, { releaseVersion, kubernetesVersion }: VersionChange): string {
  if (releaseVersion !== undefined) return `AMI release ${current} (newest: ${releaseVersion})`;
  return `AMI release ${current}, from which new nodes cannot start (EKS installs the newest for Kubernetes ${kubernetesVersion})`;
}

/** The AMI that the group gets from the parameter; undefined if it has it. */
function dueImage({ pool: { spec }, prerequisites }: ObservedState, group: NodeGroup): string | undefined {
  const image = followsImage(spec) ? selectedImage(spec, prerequisites) : undefined;
  return image === group.releaseVersion ? undefined : image;
}

/** What the user can do to update nevertheless. */
function overrideFor(s: ObservedState, group: NodeGroup, change: VersionChange): string {
  const image = dueImage(s, group);
  if (image !== undefined) return `set nodeGroup.ami.id: ${image}`;
  const pins =
    hasMachine(s.pool.spec) && change.releaseVersion === group.releaseVersion ? [] : pinsFor(s, group, change);
  return pins.length === 0 ? 'remove nodeGroup.update.maintenanceWindows' : `set ${joined(pins)}`;
}

function pinsFor(s: ObservedState, { releaseVersion }: NodeGroup, change: VersionChange): string[] {
  const { version } = hasMachine(s.pool.spec) ? {} : (change.launchTemplate ?? {});
  return [
    ...(change.releaseVersion === releaseVersion || change.releaseVersion === undefined
      ? []
      : [`nodeGroup.releaseVersion: ${change.releaseVersion}`]),
    ...(version === undefined ? [] : [`nodeGroup.launchTemplate.version: ${version}`]),
  ];
}

/** The error in the maintenance windows, when updates are automatic. */
function faultOf({ pool }: ObservedState): string | undefined {
  const { update, releaseVersion } = nodeGroupIn(pool.spec);
  const follows = !releaseVersion || (templateIn(pool.spec) && pinnedTemplateVersion(pool.spec) === undefined);
  const fault = update.policy === 'Automatic' && follows && windowFault(update.maintenanceWindows);
  return fault ? `${fault} No automatic update starts in that window.` : undefined;
}
