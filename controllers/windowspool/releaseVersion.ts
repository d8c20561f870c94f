/**
 * AMI releases of EKS by name: a Kubernetes minor version and a date, `1.35-2026.01.22`. One was published as `1.35-2026-01-22`:
 * https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-versions-windows.html
 */

/** `1.35-2026-01-22` -> `1.35-2026.01.22`: equal releases are equal text. */
export function spelled(release: string): string {
  const [minor = '', ...date] = release.split('-');
  return date.length === 0 ? release : `${minor}-${date.join('.')}`;
}

/** `1.35-2026.01.22` -> `1.35`. */
export function minorOf(release: string): string {
  return release.split('-', 1)[0] ?? '';
}

/** Whether the minor version of Kubernetes is newer than the other: (`1.36`, `1.9`) -> true. */
export function isNewerMinor(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
