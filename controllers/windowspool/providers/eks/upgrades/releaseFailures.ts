/**
 * Releases whose nodes fail verification somewhere: such a release is not rolled out by itself to the other pools of its kind. It is again when
 * the nodes are verified, and a newer release is another one. Pure.
 */
import type { WindowsPool } from '../../../api.gen.ts';
import type { ReleaseFailure } from '../../../model/disruption.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { groupOf, isDeleting } from '../../../queries.ts';
import type { NodeCheck } from '../../../reasons.ts';
import { sentence } from '../../../util/words.ts';
import { hasFailed, isAskedAgain } from '../failedTarget.ts';
import { spelled } from './releaseVersion.ts';
import { automaticChangeFor, versionTargetOf } from './versionChanges.ts';

/** What a node has from its AMI alone. Whether it is Ready or has addresses depends on more than that. */
const ofTheRelease: ReadonlySet<string> = new Set<NodeCheck>([
  'UnknownKernelVersion',
  'WrongBuild',
  'RevisionTooLow',
  'WrongContainerRuntime',
  'KubeletVersionSkew',
]);

/**
 * What the status of a pool tells of its release. While EKS rolls, the release there is the former one: a new one counts when all nodes have
 * it.
 */
export function releaseFailureOf(pool: WindowsPool): ReleaseFailure | undefined {
  const { nodeGroup, failingNodes = [] } = pool.status ?? {};
  const failing = failingNodes.find(({ reason }) => ofTheRelease.has(reason));
  if (!failing || !nodeGroup?.amiType || !nodeGroup.releaseVersion || isDeleting(pool)) return undefined;
  return {
    pool: pool.metadata.name,
    amiType: nodeGroup.amiType,
    releaseVersion: spelled(nodeGroup.releaseVersion),
    node: failing.name,
    finding: `${failing.reason}: ${failing.message}`,
  };
}

/** Why an automatic update does not begin: its release fails in another pool. What the user wants to be tried again does. */
export function unverifiedRelease(s: ObservedState): ReleaseFailure | undefined {
  const change = automaticChangeFor(s);
  const failure = change && doubtAbout(s, change);
  if (!failure) return undefined;
  const target = versionTargetOf(s.pool, change);
  return hasFailed(s, target) || isAskedAgain(s, target) ? undefined : failure;
}

/** The failure of the release that an update leads to, in another pool of the same AMI type. One that the group has is brought to nobody. */
export function doubtAbout(s: ObservedState, change: VersionChange): ReleaseFailure | undefined {
  const release = change.releaseVersion ?? (s.newestRelease?.ok ? s.newestRelease.value : undefined);
  const isThere = spelled(release ?? '') === spelled(groupOf(s)?.releaseVersion ?? '');
  return release === undefined || isThere ? undefined : failureOfRelease(s, release);
}

/** The failure of a release in another pool of the same AMI type. */
export function failureOfRelease(s: ObservedState, release: string): ReleaseFailure | undefined {
  const amiType = groupOf(s)?.amiType;
  return s.fleet.failures.find((failure) => failure.amiType === amiType && failure.releaseVersion === spelled(release));
}

/** `With release R node N of pool P fails verification: WrongBuild: runs ...` */
export function describeReleaseFailure({ pool, releaseVersion, node, finding }: ReleaseFailure): string {
  return sentence(`With release ${releaseVersion} node ${node} of pool ${pool} fails verification: ${finding}`);
}
