/**
 * Whether the node group was rolled back: it has an older release than it had before. A control plane can return to its previous minor version within 7
 * days of an upgrade, and its node groups must return first, with UpdateNodegroupVersion:
 * https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html. Pure.
 */
import type { RollbackState } from '../../../api/api.gen.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { timeOf } from '../../../util/durations.ts';
import { isRetried, retryOf } from '../changes/retryAnnotation.ts';
import type { Rollback } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { dateOf, isNewerMinor, isNewerRelease, minorOf } from '../versions/releaseVersion.ts';
import { newestFor } from './newestRelease.ts';

/**
 * The rollback that automatic updates must not undo, also if another client started it. It is over when the group has that release again, when the cluster
 * has followed to the minor version of the group, or when the user sets the annotation winpool.dev/retry.
 */
export function rollbackOf(s: EksState): Rollback | undefined {
  const { pool, now } = s;
  const group = groupOf(s);
  const recorded = pool.status?.nodeGroup;
  // A group that replaces another one, or is created again, was not rolled back.
  if (!group || recorded?.arn !== group.arn) return undefined;
  const { releaseVersion: before } = recorded;
  const record =
    before !== undefined && isOlder(group, before)
      ? { from: before, time: timeOf(now), ...retryOf(pool) }
      : recorded.rollback;
  if (!record || !isOlder(group, record.from) || isRetried(pool, record) || hasClusterFollowed(s, group, record)) {
    return undefined;
  }
  const newest = newestFor(s);
  return { record, heldRelease: newest && wouldUndo(record, group, newest) ? newest : undefined };
}

/** Whether an update of the group to this release would undo the rollback. After one within a minor version, a release later than that before would not. */
function wouldUndo({ from }: RollbackState, { releaseVersion = '' }: NodeGroup, release: string): boolean {
  if (minorOf(from) === minorOf(releaseVersion)) return !isNewerRelease(release, from);
  return !isNewerMinor(minorOf(from), minorOf(release));
}

/** Whether both are releases, not IDs of custom AMIs, and that of the group is older. */
function isOlder({ releaseVersion = '' }: NodeGroup, than: string): boolean {
  return dateOf(releaseVersion) !== undefined && dateOf(than) !== undefined && isNewerRelease(than, releaseVersion);
}

function hasClusterFollowed({ cluster }: EksState, { releaseVersion = '' }: NodeGroup, { from }: RollbackState) {
  const minor = minorOf(releaseVersion);
  if (cluster.kind !== 'seen' || minorOf(from) === minor) return false;
  return !isNewerMinor(cluster.cluster.kubernetesVersion, minor);
}
