/** What UpToDate says of automatic updates. */
import type { Finding } from './assess.ts';
import { isPaused } from './facts.ts';
import { failedAutomaticUpdate } from './failedTarget.ts';
import { RETRY_ANNOTATION } from './labels.ts';
import type { NodeGroup } from './ports.ts';
import type { Reason } from './reasons.ts';
import { releaseEnd } from './releaseVersion.ts';
import type { Situation } from './situation.ts';
import { automaticChangeFor } from './versionChanges.ts';
import { sentence } from './words.ts';

/** The finding about the update that is due by itself; undefined when none is. */
export function assessAutomatic(s: Situation, group: NodeGroup): Finding | undefined {
  const newest = automaticChangeFor(s)?.releaseVersion;
  return newest ? assessDue(s, group, newest) : undefined;
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
  return finding('Outdated', `${what} It is about to be changed.`);
}

function finding(reason: Reason, message: string): Finding {
  return { status: 'False', reason, message };
}
