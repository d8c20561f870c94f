/** What is made of repeated measurements. */

/** The middle value; of an even number of values the upper of the two. NaN without values. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that a share (0 to 1) of all values do not exceed. NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How much y grows when x grows by one: least squares. 0 for fewer than two points. */
export function slope(points: readonly Point[]): number {
  const mean = (pick: (point: Point) => number) => points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const x = mean((point) => point.x);
  const y = mean((point) => point.y);
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}
