/** Times from outside: kubelets and AWS. */

/** The years that the API server can write, as RFC 3339 has four digits. */
const [FIRST, AFTER_LAST] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('+010000-01-01T00:00:00Z')];

/** Whether the API server can write the time (epoch milliseconds): it is in the years 0 to 9999. */
export function isWritable(time: number): boolean {
  return time >= FIRST && time < AFTER_LAST;
}
