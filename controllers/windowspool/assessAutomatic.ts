/** What UpToDate says of automatic updates: that one failed, waits for its maintenance window, or has a window that never opens. */

import type { Finding } from './assess.ts';
import { waitingForWindow } from './automaticUpdates.ts';
import { isPaused } from './facts.ts';
import { failedAutomaticUpdate } from './failedTarget.ts';
import { RETRY_ANNOTATION } from './labels.ts';
import { describeOpening, nextOpening, windowFault } from './maintenance.ts';
import { nodeGroupIn } from './poolKind.ts';
import type { NodeGroup } from './ports.ts';
import type { Reason } from './reasons.ts';
import { describeReleaseFailure, unverifiedRelease } from './releaseFailures.ts';
import { releaseEnd } from './releaseVersion.ts';
import type { Situation } from './situation.ts';
import { automaticChangeFor } from './versionChanges.ts';
import { sentence } from './words.ts';

/** The finding about the update that is due by itself, or about the windows of the next one; undefined when there is nothing to say. */
export function assessAutomatic(s: Situation, group: NodeGroup): Finding | undefined {
  const newest = automaticChangeFor(s)?.releaseVersion;
  if (newest) return assessDue(s, group, newest);
  const fault = faultOf(s);
  return fault ? finding('InvalidMaintenanceWindow', fault) : undefined;
}

function assessDue(s: Situation, group: NodeGroup, newest: string): Finding {
  const { pool, now } = s;
  const { name, releaseVersion = '' } = group;
  const what = `Node group ${name} has AMI release ${releaseVersion}, and ${newest} is the newest.${releaseEnd(releaseVersion, now)}`;
  const failed = failedAutomaticUpdate(s);
  if (failed) {
    const again = `It is not tried again until the spec or the annotation ${RETRY_ANNOTATION} changes; the next release is.`;
    return finding(failed.reason as Reason, `${what} ${sentence(failed.message)} ${again}`);
  }
  if (isPaused(pool)) return finding('Outdated', `${what} It is changed when the pool is resumed.`);
  const unverified = unverifiedRelease(s);
  if (unverified) {
    const wait = 'It is not rolled out by itself until that node is verified, or gone; the next release is.';
    const move = `To have it nevertheless, set spec.nodeGroup.releaseVersion: ${newest}.`;
    return finding('ReleaseNotVerified', `${what} ${describeReleaseFailure(unverified)} ${wait} ${move}`);
  }
  if (!waitingForWindow(s)) return finding('Outdated', `${what} It is about to be changed.`);
  const opening = nextOpening(nodeGroupIn(pool.spec).update.maintenanceWindows, now);
  const when = opening ? ` The update begins at ${describeOpening(opening)}, in a maintenance window.` : '';
  const move = `To have it now, set spec.nodeGroup.releaseVersion: ${newest}.`;
  const fault = faultOf(s);
  if (fault) return finding('InvalidMaintenanceWindow', `${fault} ${what}${when} ${move}`);
  return finding('WaitingForWindow', `${what}${when} ${move}`);
}

/** What is wrong with the windows, where updates are automatic. */
function faultOf({ pool }: Situation): string | undefined {
  const { update, releaseVersion } = nodeGroupIn(pool.spec);
  const fault = update.policy === 'Automatic' && !releaseVersion && windowFault(update.maintenanceWindows);
  return fault ? `${fault} Until then no automatic update begins in that window.` : undefined;
}

function finding(reason: Reason, message: string): Finding {
  return { status: 'False', reason, message };
}
