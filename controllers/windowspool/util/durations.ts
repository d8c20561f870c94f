/** Durations and times in the notation of the API. */

/** `1h30m` or `90s` in milliseconds. The schema accepts no other notation. */
export function durationOf(text: string): number {
  const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

/** RFC 3339 without fractions of a second, as Kubernetes writes times. */
export function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
