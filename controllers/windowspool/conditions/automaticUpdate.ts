/** The part of UpToDate about automatic updates: one failed, waits for its maintenance window, or has a window that never opens. */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeGroupIn } from '../nodeSource.ts';
import type { NodeGroup, VersionChange } from '../ports/eks.ts';
import { describeRetry, failedAutomaticUpdate } from '../providers/eks/failedTarget.ts';
import { waitingForWindow } from '../providers/eks/upgrades/automaticUpdates.ts';
import { pinnedTemplateVersion, templateIn } from '../providers/eks/upgrades/launchTemplate.ts';
import { describeOpening, nextOpening, windowFault } from '../providers/eks/upgrades/maintenance.ts';
import { describeReleaseFailure, unverifiedRelease } from '../providers/eks/upgrades/releaseFailures.ts';
import { releaseEnd } from '../providers/eks/upgrades/releaseVersion.ts';
import { automaticChangeFor } from '../providers/eks/upgrades/versionChanges.ts';
import { isPaused } from '../queries.ts';
import type { Reason } from '../reasons.ts';
import { joined, sentence } from '../util/words.ts';

/** The state of the automatic update that is due, or of the maintenance windows; undefined when there is nothing to report. */
export function automaticUpdate(s: ObservedState, group: NodeGroup): ConditionState | undefined {
  const change = automaticChangeFor(s);
  if (change) return assessDue(s, group, change);
  const fault = faultOf(s);
  return fault ? finding('InvalidMaintenanceWindow', fault) : undefined;
}

function assessDue(s: ObservedState, group: NodeGroup, change: VersionChange): ConditionState {
  const { pool, now } = s;
  const what = `Node group ${group.name} has ${dueParts(group, change).join('; ')}.${releaseEnd(group.releaseVersion ?? '', now)}`;
  const failed = failedAutomaticUpdate(s);
  if (failed) {
    const next = failed.reason === 'ReleaseNotOffered' ? '.' : '; the next release is.';
    const again = describeRetry(failed).replace(/\.$/, next);
    return finding(failed.reason as Reason, `${what} ${sentence(failed.message)} ${again}`);
  }
  if (isPaused(pool)) return finding('Outdated', `${what} It is changed when the pool is resumed.`);
  const unverified = unverifiedRelease(s);
  if (unverified) {
    const wait = 'It is not rolled out by itself until that node is verified, or gone; the next release is.';
    const remedy = `To have it nevertheless, set ${joined(pinsFor(group, change))}.`;
    return finding('ReleaseNotVerified', `${what} ${describeReleaseFailure(unverified)} ${wait} ${remedy}`);
  }
  if (!waitingForWindow(s)) return finding('Outdated', `${what} It is about to be changed.`);
  const opening = nextOpening(nodeGroupIn(pool.spec).update.maintenanceWindows, now);
  const when = opening ? ` The update begins at ${describeOpening(opening)}, in a maintenance window.` : '';
  const remedy = `To have it now, set ${joined(pinsFor(group, change))}.`;
  const fault = faultOf(s);
  if (fault) return finding('InvalidMaintenanceWindow', `${fault} ${what}${when} ${remedy}`);
  return finding('WaitingForWindow', `${what}${when} ${remedy}`);
}

/** What differs: the present versions and the target. */
function dueParts({ releaseVersion, launchTemplate: seen }: NodeGroup, change: VersionChange): string[] {
  const { version } = change.launchTemplate ?? {};
  return [
    ...(change.releaseVersion === releaseVersion ? [] : [newerRelease(releaseVersion, change)]),
    ...(version === undefined
      ? []
      : [`version ${seen?.version} of launch template ${seen?.name}, and ${version} is wanted`]),
  ];
}

function newerRelease(present: string | undefined, { releaseVersion, kubernetesVersion }: VersionChange): string {
  if (releaseVersion !== undefined) return `AMI release ${present}, and ${releaseVersion} is the newest`;
  return `AMI release ${present}, which starts no node any more, and EKS takes the newest of Kubernetes ${kubernetesVersion}`;
}

function pinsFor({ releaseVersion }: NodeGroup, change: VersionChange): string[] {
  const { version } = change.launchTemplate ?? {};
  return [
    ...(change.releaseVersion === releaseVersion || change.releaseVersion === undefined
      ? []
      : [`spec.nodeGroup.releaseVersion: ${change.releaseVersion}`]),
    ...(version === undefined ? [] : [`spec.nodeGroup.launchTemplate.version: ${version}`]),
  ];
}

/** The error in the maintenance windows, when updates are automatic. */
function faultOf({ pool }: ObservedState): string | undefined {
  const { update, releaseVersion } = nodeGroupIn(pool.spec);
  const follows = !releaseVersion || (templateIn(pool.spec) && pinnedTemplateVersion(pool.spec) === undefined);
  const fault = update.policy === 'Automatic' && follows && windowFault(update.maintenanceWindows);
  return fault ? `${fault} Until then no automatic update begins in that window.` : undefined;
}

function finding(reason: Reason, message: string): ConditionState {
  return { status: 'False', reason, message };
}
