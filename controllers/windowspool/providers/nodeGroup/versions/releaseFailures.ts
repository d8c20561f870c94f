/**
 * Releases whose nodes fail verification in some pool: such a release is not rolled out automatically to other pools of its AMI type until
 * the nodes are verified. A newer release is independent of it. Pure.
 */
import type { WindowsPool } from '../../../api/api.gen.ts';
import type { ReleaseFailure } from '../../../model/disruption.ts';
import { describeFinding, isOfTheRelease } from '../../../nodes/releaseChecks.ts';
import { isDeleting } from '../../../rules/poolQueries.ts';
import { sentence } from '../../../util/words.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { normalizedRelease } from './releaseVersion.ts';

/** The failures of the pool's releases, from its status: of the release of its node group, and of one that failed on a canary. */
export function releaseFailuresOf(pool: WindowsPool): ReleaseFailure[] {
  if (isDeleting(pool)) return [];
  return [...failureOfNodes(pool), ...failuresOnCanary(pool)];
}

/**
 * The failure of the release of a pool's node group: at least as many nodes fail because of the AMI as are verified. A bad AMI fails all nodes of
 * a pool; a single node can report anything. During a rolling update, status has the former release: the new one counts when all nodes have it.
 */
function failureOfNodes(pool: WindowsPool): ReleaseFailure[] {
  const { nodeGroup, nodes, failingNodes = [] } = pool.status ?? {};
  const [failing, ...others] = failingNodes.filter(isOfTheRelease);
  if (!failing || !nodeGroup?.amiType || !nodeGroup.releaseVersion) return [];
  // The nodes of a canary have another release: those that are not verified count as its own, and as failing.
  const { nodes: tried = 0, verified: passed = 0 } = nodeGroup.canary ?? {};
  // The list of status is cut: its share stands for all failing nodes.
  const share = (1 + others.length) / failingNodes.length;
  const failingHere = share * (nodes?.failing ?? failingNodes.length) - (tried - passed);
  if (tried > passed && failingHere <= 0) return [];
  if (failingHere < (nodes?.verified ?? 0) - passed) return [];
  return [
    {
      pool: pool.metadata.name,
      kind: nodeGroup.amiType,
      release: normalizedRelease(nodeGroup.releaseVersion),
      node: failing.name,
      finding: describeFinding(failing),
    },
  ];
}

/** The releases that failed on a canary of the pool, until the pool has them or no longer asks for them. The nodes of the canary are gone by then. */
function failuresOnCanary({ metadata, status }: WindowsPool): ReleaseFailure[] {
  const { amiType, failedChanges = [] } = status?.nodeGroup ?? {};
  if (!amiType) return [];
  return failedChanges.flatMap(({ target, release }) => {
    if (target === undefined || !release) return [];
    const { version, node, finding } = release;
    return [
      {
        pool: metadata.name,
        kind: amiType,
        release: normalizedRelease(version),
        node,
        finding,
        onCanary: true as const,
      },
    ];
  });
}

/** The failure of a release in another pool of the same AMI type. */
export function failureOfRelease(s: EksState, release: string): ReleaseFailure | undefined {
  const amiType = groupOf(s)?.amiType;
  return s.otherPools.failures.find(
    (failure) => failure.kind === amiType && failure.release === normalizedRelease(release),
  );
}

/** `With release R, node N of WindowsPool P fails verification: WrongBuild: runs ....` */
export function describeReleaseFailure({ pool, release, node, finding, onCanary }: ReleaseFailure): string {
  const fails = onCanary ? `of the canary of WindowsPool ${pool} failed` : `of WindowsPool ${pool} fails`;
  return sentence(`With release ${release}, node ${node} ${fails} verification: ${finding}`);
}

/** Until when an automatic update waits because of the failure, in a sentence. */
export function describeWait(failure: ReleaseFailure): string {
  return `The automatic update waits until ${endOfFailure(failure)}, or until the next release is available.`;
}

/** What ends the failure, as the rest of a sentence. */
export function endOfFailure({ pool, onCanary }: ReleaseFailure): string {
  return onCanary
    ? `WindowsPool ${pool} has this release or no longer asks for it`
    : 'that node is verified or deleted';
}
