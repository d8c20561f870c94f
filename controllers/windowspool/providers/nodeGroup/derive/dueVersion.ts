/** What an open version change waits for, and whether a canary of it is due. Pure. */

import { isInWindow, nextOpening } from '../../../disruption/maintenance.ts';
import { isDisrupted } from '../../../disruption/reservation.ts';
import type { ReleaseFailure } from '../../../model/disruption.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { isPaused } from '../../../rules/poolQueries.ts';
import type { DueVersion, OpenVersion } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { canarySpecIn, isMainIdle, isOpen } from '../secondGroup/canary.ts';
import { canaryIn, secondIn } from '../secondGroup/secondGroup.ts';
import { failureOfRelease } from '../versions/releaseFailures.ts';
import { normalizedRelease } from '../versions/releaseVersion.ts';
import { imageIn } from '../versions/versionChanges.ts';
import type { KnownFailures } from './failures.ts';
import type { OpenChanges } from './openChanges.ts';

/** The version change that is due; undefined when none is open. */
export function dueVersionOf(s: EksState, open: OpenChanges, failures: KnownFailures): DueVersion | undefined {
  const { version, replacement } = open;
  if (!version) return undefined;
  const hasFailed = failures.standing.has(version.target);
  // Updates that the user pins or retries never wait.
  const mayWait = version.isAutomatic && !hasFailed && !failures.askedAgain.has(version.target);
  const windows = nodeGroupIn(s.pool.spec).update.maintenanceWindows;
  const waitsForCluster = mayWait && s.cluster.kind === 'seen' && s.cluster.cluster.status === 'UPDATING';
  const waitsForWindow = mayWait && !isInWindow(windows, s.now);
  const releaseFailure = releaseFailureOf(s, version.change);
  const waitsForRelease = mayWait && releaseFailure !== undefined;
  const mayBegin = !hasFailed && !waitsForCluster && !waitsForWindow && !waitsForRelease;
  return {
    ...version,
    hasFailed,
    releaseFailure,
    waitsForCluster,
    waitsForWindow,
    opening: waitsForWindow ? nextOpening(windows, s.now) : undefined,
    waitsForRelease,
    mayBegin,
    waitsForBudget: mayBegin && hasNoBudget(s),
    isCanaryDue: isCanaryDue(s, version, { hasFailed, mayBegin, isReplaced: replacement.length > 0 }),
  };
}

/** Whether the pool has no share of the disruption budget, and gets none now. */
function hasNoBudget({ pool, group, otherPools, settings }: EksState): boolean {
  if (isDisrupted(pool) || isPaused(pool) || otherPools.disrupted.length < settings.maxPoolsUpdating) return false;
  return group.kind === 'seen';
}

/** Whether a canary of the update is to be created now; not when it exists, as far as is known. */
function isCanaryDue(
  s: EksState,
  { isTried }: OpenVersion,
  { hasFailed, mayBegin, isReplaced }: Record<'hasFailed' | 'mayBegin' | 'isReplaced', boolean>,
): boolean {
  if (!canarySpecIn(s.pool.spec) || !isMainIdle(s)) return false;
  // A release that EKS did not offer is asked for again at the next regular read.
  if (isOpen(s)) return s.second?.kind === 'absent' && canaryIn(s.pool)?.arn === undefined && isTried && !hasFailed;
  return !s.second && !secondIn(s.pool) && !isReplaced && mayBegin;
}

/** The failure of an update's target release in another pool of the same AMI type. A release that the group already has does not count. */
function releaseFailureOf(s: EksState, change: VersionChange): ReleaseFailure | undefined {
  const release = change.releaseVersion ?? targetOf(s, change);
  const isPresent = normalizedRelease(release ?? '') === normalizedRelease(groupOf(s)?.releaseVersion ?? '');
  return release === undefined || isPresent ? undefined : failureOfRelease(s, release);
}

/** What EKS installs if the update names no release: the newest one, or the custom AMI of the launch template. */
function targetOf(s: EksState, change: VersionChange): string | undefined {
  if (change.kubernetesVersion === undefined) return imageIn(s, change);
  return s.newestRelease?.ok ? s.newestRelease.value : undefined;
}
