/**
 * Names of AMI releases: a Kubernetes minor version and a date, `1.35-2026.01.22`. One was published as `1.35-2026-01-22`:
 * https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-versions-windows.html
 */

/** `1.35-2026-01-22` -> `1.35-2026.01.22`, so that equal releases are equal strings. */
export function normalizedRelease(release: string): string {
  const [minor = '', ...date] = release.split('-');
  return date.length === 0 ? release : `${minor}-${date.join('.')}`;
}

/** `1.35-2026.01.22` -> `1.35`. */
export function minorOf(release: string): string {
  return release.split('-', 1)[0] ?? '';
}

/** `1.35-2026.01.22` -> `2026-01-22`; undefined when the name has no date. */
export function dateOf(release: string): string | undefined {
  const [, year, month, day] = /-(\d{4})[.-](\d{2})[.-](\d{2})$/.exec(release) ?? [];
  return year && `${year}-${month}-${day}`;
}

/** Whether a release is newer: it is of a newer Kubernetes version, or of a later date. */
export function isNewerRelease(release: string, other: string): boolean {
  const [minor, otherMinor] = [minorOf(release), minorOf(other)];
  if (minor !== otherMinor) return isNewerMinor(minor, otherMinor);
  return (dateOf(release) ?? '') > (dateOf(other) ?? '');
}

/**
 * When an AMI becomes old, and when it becomes private so that no node can start from it, in epoch milliseconds: AWS keeps Windows AMIs
 * public for four months. https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html
 */
export function lifeOf(release: string): AmiLife | undefined {
  const made = Date.parse(dateOf(release) ?? '');
  return Number.isNaN(made) ? undefined : lifeFrom(made);
}

/** The same for an AMI of Amazon that was made at this time, in epoch milliseconds. */
export function lifeFrom(made: number): AmiLife {
  return { old: monthsAfter(made, 3), private: monthsAfter(made, 4) };
}

/** Whether AWS has made the AMI of a release private by now. It keeps the newest one public, whatever its age. */
export function isPrivate(release: string, newest: string | undefined, now: number): boolean {
  const isOld = now >= (lifeOf(release)?.private ?? Number.POSITIVE_INFINITY);
  return isOld && newest !== undefined && isNewerRelease(newest, release);
}

interface AmiLife {
  readonly old: number;
  readonly private: number;
}

/** A warning for messages about an old AMI; empty before. */
export function releaseEnd(release: string, now: number): string {
  const life = lifeOf(release);
  return life ? lifeEnd(life, now) : '';
}

/** The same for an AMI with this life. */
export function lifeEnd(life: AmiLife, now: number): string {
  if (now < life.old) return '';
  const day = new Date(life.private).toISOString().slice(0, 10);
  if (now >= life.private) return ` AWS made this AMI private around ${day}. New nodes cannot start from it.`;
  return ` AWS makes this AMI private around ${day}. After that, new nodes cannot start from it.`;
}

function monthsAfter(time: number, months: number): number {
  const day = new Date(time);
  return day.setUTCMonth(day.getUTCMonth() + months);
}

/** Whether the Kubernetes minor version is newer: (`1.36`, `1.9`) -> true. */
export function isNewerMinor(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
