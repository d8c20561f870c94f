/** The release that automatic updates install. Pure. */
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import type { EksState } from '../model/groupState.ts';
import { minorOf } from '../versions/releaseVersion.ts';

/**
 * The newest release of the desired minor version. While it cannot be read, the last known one is used, so that a failed update does not
 * look like a new target.
 */
export function newestFor({ pool, cluster, newestRelease }: EksState): string | undefined {
  const newest = newestRelease?.ok ? newestRelease.value : pool.status?.nodeGroup?.latestReleaseVersion;
  const known = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  const minor = nodeGroupIn(pool.spec).kubernetesVersion ?? known;
  return newest && (minor === undefined || minorOf(newest) === minor) ? newest : undefined;
}
