/**
 * Whether the node group was rolled back: it has an older release than it had before. A control plane can return to its previous minor version within 7
 * days of an upgrade, and its node groups must return first, with UpdateNodegroupVersion:
 * https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html. Pure.
 */
import type { RollbackState } from '../../../api/api.gen.ts';
import { timeOf } from '../../../util/durations.ts';
import { isRetried, retryOf } from '../changes/retryAnnotation.ts';
import type { Rollback } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, lastReleaseOf } from '../observation/knownGroups.ts';
import { dateOf, isNewerMinor, isNewerRelease, minorOf } from '../versions/releaseVersion.ts';
import { newestFor } from './newestRelease.ts';

/**
 * The rollback that automatic updates must not undo, also if another client started it. It is over when the group has that release again, when the cluster
 * has followed to the minor version of the group, or has a newer one than the group had, when EKS can no longer roll the cluster back, or when the user sets
 * the annotation winpool.dev/retry.
 */
export function rollbackOf(s: EksState): Rollback | undefined {
  const { pool, now } = s;
  const group = groupOf(s);
  const recorded = pool.status?.nodeGroup;
  // A group that replaces another one, or is created again, was not rolled back.
  if (!group || recorded?.arn !== group.arn) return undefined;
  const { releaseVersion: before } = recorded;
  const release = lastReleaseOf(pool, group) ?? '';
  const known =
    before !== undefined && isOlder(release, before)
      ? { from: before, time: timeOf(now), ...retryOf(pool) }
      : recorded.rollback;
  if (!known || !isOlder(release, known.from) || isRetried(pool, known)) return undefined;
  const record = withClusterChange(s, known, release);
  const until = endOf(record, release);
  if (hasClusterChanged(s, record) || (until !== undefined && now >= until)) return undefined;
  const newest = newestFor(s);
  return { record, until, heldRelease: newest && wouldUndo(record, release, newest) ? newest : undefined };
}

/** Whether an update of the group to this release would undo the rollback. After one within a minor version, a release later than that before would not. */
function wouldUndo({ from }: RollbackState, present: string, release: string): boolean {
  if (minorOf(from) === minorOf(present)) return !isNewerRelease(release, from);
  return !isNewerMinor(minorOf(from), minorOf(release));
}

/** Whether both are releases, not IDs of custom AMIs, and the first is older. */
function isOlder(release: string, than: string): boolean {
  return dateOf(release) !== undefined && dateOf(than) !== undefined && isNewerRelease(than, release);
}

/** The record with the time since which every answer has had a version of the cluster that ends the rollback. */
function withClusterChange(s: EksState, record: RollbackState, release: string): RollbackState {
  const { clusterChangeTime = timeOf(s.now), ...rest } = record;
  return endsRollback(s, record, release) ? { ...rest, clusterChangeTime } : rest;
}

/** Whether it has had such a version for long enough that more than one answer shows it: the cluster is read at least once in each resync. */
function hasClusterChanged({ now, settings }: EksState, { clusterChangeTime }: RollbackState): boolean {
  return clusterChangeTime !== undefined && now - Date.parse(clusterChangeTime) >= 2 * settings.resyncMs;
}

/**
 * Whether the cluster has followed the group to its minor version, or has a newer one than the group had: EKS rolls a cluster back by one minor version. This is
 * what the last answer shows.
 */
function endsRollback({ cluster }: EksState, { from }: RollbackState, release: string): boolean {
  const minor = minorOf(release);
  const present = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : '';
  if (present === '' || minorOf(from) === minor) return false;
  return !isNewerMinor(present, minor) || isNewerMinor(present, minorOf(from));
}

/** How long after an upgrade EKS can roll a cluster back: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html */
const CLUSTER_ROLLBACK_MS = 7 * 24 * 3_600_000;

/** When the cluster can certainly no longer be rolled back: it was upgraded before the group had the newer version. Undefined within a minor version. */
function endOf({ from, time }: RollbackState, release: string): number | undefined {
  return minorOf(from) === minorOf(release) ? undefined : Date.parse(time) + CLUSTER_ROLLBACK_MS;
}
