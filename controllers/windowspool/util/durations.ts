/** Times as the spec writes them. */

/** `1h30m`, `90s` in milliseconds. The schema takes no other texts. */
export function durationOf(text: string): number {
  const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

/** Kubernetes writes times without fractions. */
export function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
