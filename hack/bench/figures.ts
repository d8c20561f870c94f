/** The figures that docs/reference/performance.md shows. */
import { median, percentile, round } from './statistics.ts';

export interface Figure {
  readonly name: string;
  readonly unit: '' | 'ms' | 's' | 'MB' | 'us';
  /** The median of the runs. */
  readonly value: number;
  /** The least and the greatest value of the runs. Absent for a figure of one run. */
  readonly spread?: { readonly low: number; readonly high: number; readonly runs: number };
  /** The greatest value that is good enough. */
  readonly goal?: number;
  /** Whether the goal holds on any machine and in any size: something is wrong otherwise. */
  readonly isExact?: true;
}

type Name = Pick<Figure, 'name' | 'unit' | 'goal'>;

/** The median of several runs. */
export function figureOf(name: Name, runs: readonly number[]): Figure {
  const [low, high] = [rounded(percentile(runs, 0)), rounded(percentile(runs, 1))];
  return { ...name, value: rounded(median(runs)), spread: { low, high, runs: runs.length } };
}

/** How often something was counted that must not exist. */
export function noneOf(name: string, count: number): Figure {
  return { name, unit: '', value: count, goal: 0, isExact: true };
}

/** Three digits: more are noise. */
export function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : round(value, value >= 10 ? 1 : 2);
}

/** Whether a figure reaches its goal; `undecided`: its spread is larger than its distance from the goal. Undefined without a goal. */
export function goalResult({ value, goal, spread }: Figure): 'met' | 'missed' | 'undecided' | undefined {
  if (goal === undefined) return undefined;
  if (spread && spread.runs > 1 && widthOf(spread) > Math.abs(value - goal)) return 'undecided';
  return value <= goal ? 'met' : 'missed';
}

/** Whether a figure is worse than an earlier one by more than both spreads together. One of a single run has no spread to judge by. */
export function isWorse(now: Figure, before: Figure): boolean {
  if (now.isExact) return now.value > before.value;
  if (!now.spread || !before.spread) return false;
  return now.value - before.value > widthOf(now.spread) + widthOf(before.spread);
}

function widthOf({ low, high }: NonNullable<Figure['spread']>): number {
  return high - low;
}

/** The value with its spread, such as `0.92 (0.88 to 1.01, 7 runs)`. */
export function textOf({ value, unit, spread }: Figure): string {
  const shown = `${value}${unit && ` ${unit}`}`;
  return spread && spread.runs > 1 ? `${shown} (${spread.low} to ${spread.high}, ${spread.runs} runs)` : shown;
}
