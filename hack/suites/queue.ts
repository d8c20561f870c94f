/** The order of the cluster suites, and messages about their durations. Pure. */

import type { Report } from './protocol.ts';

/** A test that ran. */
export interface TestRun {
  readonly file: string;
  readonly title: string;
  readonly ms: number;
}

/** Seconds that a suite took, by its file. */
export type Durations = Readonly<Record<string, number>>;

/** Minutes after which the suites of a target cause a warning, and a failure. With all else, `make test` must end within 20 minutes. */
const LIMITS = { test: { warn: 15, fail: 30 }, 'test-all': { warn: 35, fail: 60 } } as const;

/**
 * The order for processes that each take the next file when they are done with one: the longest first, so that no process runs a long one
 * alone at the end. A file of unknown duration counts as long.
 */
export function longestFirst(files: readonly string[], durations: Durations): string[] {
  const seconds = (file: string) => durations[file] ?? Number.POSITIVE_INFINITY;
  const compare = (a: number, b: number) => (a === b ? 0 : b - a);
  return [...files].sort((a, b) => compare(seconds(a), seconds(b)) || a.localeCompare(b));
}

/** The slowest tests as a table, the slowest first. */
export function slowestTests(tests: readonly TestRun[], count = 20): string {
  const slowest = [...tests].sort((a, b) => b.ms - a.ms).slice(0, count);
  const lines = slowest.map(({ ms, file, title }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}  ${title}`);
  return [`The ${slowest.length} slowest of ${tests.length} tests:`, ...lines].join('\n');
}

/** The event loop delays of the operators of each suite, the longest first: a table to read, because they depend on what else the machine runs. */
export function eventLoopTable(reports: readonly Pick<Report, 'file' | 'eventLoopDelays'>[]): string {
  const rows = reports
    .filter(({ eventLoopDelays }) => eventLoopDelays.length > 0)
    .map(({ file, eventLoopDelays }) => ({
      file,
      p99: Math.max(...eventLoopDelays.map(({ p99 }) => p99)),
      max: Math.max(...eventLoopDelays.map(({ max }) => max)),
    }))
    .sort((a, b) => b.p99 - a.p99);
  const lines = rows.map(({ file, p99, max }) => `${String(p99).padStart(7)} ${String(max).padStart(7)}  ${file}`);
  return ['The event loop delay of operators in ms, p99 and longest:', ...lines].join('\n');
}

/** The failures of all files, for the end of the output: of a long log, often only the end is kept. Empty if nothing failed. */
export function failedTests(reports: readonly Pick<Report, 'file' | 'failures'>[]): string {
  const lines = reports.flatMap(({ file, failures }) =>
    failures.map((failure) => `Failed: ${file}\n  ${cut(failure)}`),
  );
  return lines.join('\n');
}

function cut(failure: string): string {
  return failure.length > MAX_FAILURE ? `${failure.slice(0, MAX_FAILURE)}...` : failure;
}

const MAX_FAILURE = 1_000;

/** Checks how long the suites of a target took. */
export function checkDuration(
  ms: number,
  target: keyof typeof LIMITS,
): { readonly ok: boolean; readonly text: string } {
  const { warn, fail } = LIMITS[target];
  const minutes = ms / 60_000;
  const took = `The cluster suites took ${minutes.toFixed(1)} minutes`;
  const remedy = 'Make the slowest tests above faster, or move what they enumerate to a unit test.';
  if (minutes > fail) return { ok: false, text: `${took}, more than the ${fail} allowed. ${remedy}` };
  if (minutes > warn) return { ok: true, text: `Warning: ${took}, more than ${warn}. ${remedy}` };
  return { ok: true, text: `${took}.` };
}

/** The number of processes that run suites: `value` of SUITE_PROCESSES, by default 4: a suite needs about a quarter of a processor. Throws if it is not a positive number. */
export function processCount(value: string | undefined): number {
  const count = Number(value ?? 4);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new Error(`SUITE_PROCESSES=${value}: must be a whole number of 1 or more.`);
}
