/** The call that leads a node group to the Kubernetes version and the AMI release that it shall have. Pure. */

import type { WindowsPool } from './api.gen.ts';
import { RELEASE, VERSION } from './applied.ts';
import { differencesToMend } from './differences.ts';
import { groupOf } from './facts.ts';
import { configChangeFor } from './groupChanges.ts';
import { hashOf } from './hash.ts';
import { pinnedMinor, pinsOf, updateOf } from './nodeGroup.ts';
import { nodeGroupIn } from './poolKind.ts';
import type { ConfigChange, NodeGroup, VersionChange } from './ports.ts';
import { isNewerMinor, isNewerRelease, minorOf } from './releaseVersion.ts';
import type { Situation } from './situation.ts';

/** The UpdateNodegroupVersion that is due, undefined when there is none. */
export function versionChangeFor(s: Situation): VersionChange | undefined {
  const group = groupOf(s);
  if (!group || isAheadOfCluster(s)) return undefined;
  return pinnedChange(s.pool, group) ?? automaticChange(s, group);
}

/** That update, where nobody asked for it: the newest release, with policy Automatic. */
export function automaticChangeFor(s: Situation): VersionChange | undefined {
  const group = groupOf(s);
  return group && !pinnedChange(s.pool, group) ? versionChangeFor(s) : undefined;
}

/** What the update sends, and how nodes are replaced, as a hash: a failed one is not repeated while this stays the same. */
export function versionTargetOf({ spec }: WindowsPool, change: VersionChange): string {
  return hashOf({ version: change, ...updateOf(spec) });
}

/** What must be sent before an update of the version: it would replace more nodes at a time than the spec allows by now. */
export function preparationFor(s: Situation): ConfigChange | undefined {
  const group = groupOf(s);
  const update = group && versionChangeFor(s) && configChangeFor(s.pool, group)?.update;
  return update && { update };
}

/** The fields that the update changes. */
export function fieldsOfVersionChange(pool: WindowsPool): string[] {
  const { kubernetesVersion, releaseVersion } = pinsOf(pool.spec);
  return [...(kubernetesVersion ? [VERSION] : []), ...(releaseVersion ? [RELEASE] : [])];
}

/** Whether the spec pins a version that the control plane does not have yet: a kubelet must not be newer. */
export function isAheadOfCluster({ pool, cluster }: Pick<Situation, 'pool' | 'cluster'>): boolean {
  const minor = pinnedMinor(pool.spec);
  return minor !== undefined && cluster.kind === 'seen' && isNewerMinor(minor, cluster.cluster.kubernetesVersion);
}

/** With policy Automatic, the newest release of the wanted minor version. */
function automaticChange(s: Situation, { releaseVersion }: NodeGroup): VersionChange | undefined {
  const { update, releaseVersion: pin } = nodeGroupIn(s.pool.spec);
  const newest = newestFor(s);
  if (update.policy !== 'Automatic' || pin || !newest || !releaseVersion) return undefined;
  if (!isNewerRelease(newest, releaseVersion)) return undefined;
  return { kubernetesVersion: minorOf(newest), releaseVersion: newest, force: update.force };
}

/**
 * The newest release of the wanted minor version as it is known. While it cannot be asked for it is what it was: what failed must not look
 * like another wish for that.
 */
function newestFor({ pool, cluster, newestRelease }: Situation): string | undefined {
  const newest = newestRelease?.ok ? newestRelease.value : pool.status?.nodeGroup?.latestReleaseVersion;
  const known = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  const minor = nodeGroupIn(pool.spec).kubernetesVersion ?? known;
  return newest && (minor === undefined || minorOf(newest) === minor) ? newest : undefined;
}

function pinnedChange(pool: WindowsPool, group: NodeGroup): VersionChange | undefined {
  const differs = differencesToMend(pool, group).some(({ field }) => field === VERSION || field === RELEASE);
  const kubernetesVersion = pinnedMinor(pool.spec);
  if (!differs || kubernetesVersion === undefined) return undefined;
  const { releaseVersion } = pinsOf(pool.spec);
  return {
    kubernetesVersion,
    ...(releaseVersion && { releaseVersion }),
    force: nodeGroupIn(pool.spec).update.force,
  };
}
