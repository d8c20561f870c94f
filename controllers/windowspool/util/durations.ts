/** Durations and times in the notation of the API. */

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** A Go duration such as `1h30m` or `90s` in milliseconds. The schema accepts hours, minutes and seconds only. */
export function durationOf(text: string): number {
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return parts.reduce((ms, [, amount, unit = '']) => ms + Number(amount) * (UNITS[unit] ?? 0), 0);
}

/** RFC 3339 without fractions of a second, as Kubernetes writes times. */
export function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
