/**
 * Compares two resourceVersions as decimal numbers of any length, which Kubernetes allows since 1.35 (KEP-5504, comparable resource version).
 * Negative if `left` is older. An empty version is older than every other.
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
