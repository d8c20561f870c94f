/** Which API servers the operator works with. */

/**
 * The Kubernetes minors that the operator supports. The documentation, the chart and the check at the start follow these values.
 *
 * - `minimum`: an older API server is refused. Every API that the operator uses has been stable for longer (the youngest, CEL rules of CRDs,
 *   since 1.29), but EKS no longer runs older ones, not even in extended support, and they have never been tried.
 * - `oldestTested`, `newestTested`: `make cluster-test` passes on them. 1.34 is the oldest in standard support of EKS, until 2 December 2026:
 *   https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html#kubernetes-release-calendar
 *
 * An API server between `minimum` and `oldestTested` lacks the watch lists of 1.34, so a cache lists its objects before it watches them.
 */
export const API_SERVER = { minimum: '1.31', oldestTested: '1.34', newestTested: '1.36' } as const;

/** Whether the operator can work with an API server, and if not, or if it was not tested, a sentence for the administrator. */
export type VersionCheck =
  | { readonly kind: 'supported' }
  | { readonly kind: 'untested' | 'tooOld'; readonly message: string };

/** `version` is that of the API server, such as `v1.36.3-eks-1234567`. One that cannot be read counts as supported. */
export function checkApiServer(version: string): VersionCheck {
  const minor = minorOf(version);
  const { minimum, oldestTested, newestTested } = API_SERVER;
  if (minor === undefined) return { kind: 'supported' };
  if (isOlder(minor, minimum)) {
    const message = `The API server runs Kubernetes ${version}, and the operator needs ${minimum} or newer. Upgrade the control plane of the cluster, or install an older release of the operator.`;
    return { kind: 'tooOld', message };
  }
  const isOld = isOlder(minor, oldestTested);
  if (!isOld && !isOlder(newestTested, minor)) return { kind: 'supported' };
  const remedy = isOld ? 'Upgrade the control plane of the cluster.' : 'Check for a newer release of the operator.';
  const message = `The API server runs Kubernetes ${version}. The operator is tested with ${oldestTested} to ${newestTested}. ${remedy}`;
  return { kind: 'untested', message };
}

function minorOf(version: string): string | undefined {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})/.exec(version) ?? [];
  return major === undefined ? undefined : `${major}.${minor}`;
}

/** Compares minors by number: 1.9 is older than 1.31. */
function isOlder(a: string, b: string): boolean {
  const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [a.split('.').map(Number), b.split('.').map(Number)];
  return majorA === majorB ? minorA < minorB : majorA < majorB;
}
