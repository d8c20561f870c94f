/** Statistics of repeated measurements. */

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

/** The values in parts of this size, in their order; the last part can be smaller. */
export function partsOf<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, part) =>
    values.slice(part * size, (part + 1) * size),
  );
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * How much y grows when x grows by one: the median of the slopes between any two points (Theil and Sen), on which a quarter of outliers,
 * such as buffers of a list that is coming in, has little weight. 0 for fewer than two points.
 */
export function slope(points: readonly Point[]): number {
  const slopes = points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .filter(({ x }) => x !== from.x)
      .map((to) => (to.y - from.y) / (to.x - from.x)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
