/**
 * Compares two resource versions as the decimal numbers of any length that they are: negative when `left` is older. An empty
 * version is older than every other. Comparing them is sanctioned since Kubernetes 1.35 (KEP-5504, comparable resource version).
 */
export function compareVersions(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The newer of two versions. */
export function newerVersion(left: string, right: string): string {
  return compareVersions(left, right) >= 0 ? left : right;
}
