/** The output and the file of `make bench`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goalResult, isWorse, textOf } from './figures.ts';
import type { Result } from './section.ts';
import { median, round } from './statistics.ts';

const FOLDER = fileURLToPath(new URL('../../build/', import.meta.url));
const FILE = join(FOLDER, 'bench.json');
const RECORD = fileURLToPath(new URL('record.json', import.meta.url));

/** A section in the file. */
export interface Measured extends Result {
  /** ISO 8601. */
  readonly at: string;
  readonly node: string;
  readonly processors: number;
  /** Its processors. Absent in older records. */
  readonly machine?: string;
  readonly loadBefore: number;
  /** See {@link referenceMs}. Absent in older records. */
  readonly referenceMs?: number;
}

export type MeasuredSections = Readonly<Record<string, Measured>>;

/** The load of the machine before a section, which disturbs it. */
export function loadNow(): number {
  return round(loadavg()[0] ?? 0, 1);
}

/** Virtual machines of one kind can differ in speed by more than a factor of two. */
const SAME_SPEED = 1.15;
const TIMES: ReadonlySet<string> = new Set(['us', 'ms', 's']);
const REFERENCE_STEPS = 20_000_000;

/** How long this machine takes for a fixed computation, in milliseconds. */
export function referenceMs(): number {
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    for (let step = 0, value = 0; step < REFERENCE_STEPS; step++) value = (value * 31 + step) | 0;
    return performance.now() - began;
  });
  return Math.round(median(times));
}

/** Prints the table of a section, and compares its figures with their goals. */
export function print(name: string, { how, rows, figures }: Result): void {
  console.log(`\n${name}: ${how}`);
  console.table(rows);
  for (const figure of figures) {
    const { name: what, goal } = figure;
    const result = goalResult(figure);
    const reached = result === undefined ? '' : `, ${result === 'missed' ? 'MISSED' : result}: at most ${goal}`;
    console.log(`  ${what}: ${textOf(figure)}${reached}`);
  }
}

/** The sections in build/bench.json. */
export function measuredSections(): Promise<MeasuredSections> {
  return sectionsIn(FILE);
}

/** The last record: the sections from which the page was written. */
export function recordedSections(): Promise<MeasuredSections> {
  return sectionsIn(RECORD);
}

async function sectionsIn(file: string): Promise<MeasuredSections> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { sections?: MeasuredSections }).sections ?? {};
}

/** Makes the measured sections the last record. */
export async function record(sections: MeasuredSections): Promise<void> {
  await writeFile(RECORD, `${JSON.stringify({ sections }, undefined, 2)}\n`);
}

/**
 * The figures of a section that are worse than in a record of the same kind of machine, as lines. Times are compared only if the machine is as fast as it was then.
 */
export function regressions({ figures }: Result, recorded: Measured | undefined, reference: number): string[] {
  if (!recorded || recorded.machine !== machine()) return [];
  const before = new Map(recorded.figures.map((figure) => [figure.name, figure]));
  return figures.flatMap((figure) => {
    const known = before.get(figure.name);
    const isComparable = isAsFast(recorded, reference) || !TIMES.has(figure.unit);
    return known && isComparable && isWorse(figure, known)
      ? [`${figure.name}: ${textOf(figure)}, before: ${textOf(known)}`]
      : [];
  });
}

/** Whether the machine is about as fast as it was for the record. */
export function isAsFast({ referenceMs: before = Number.NaN }: Measured, reference: number): boolean {
  return Math.max(reference / before, before / reference) < SAME_SPEED;
}

function machine(): string {
  const all = cpus();
  return `${all.length} x ${all[0]?.model.trim()}`;
}

/** Writes a section to build/bench.json. Sections of earlier calls are kept with their times, so that a long section need not run again. */
export async function keep(
  name: string,
  result: Result,
  before: Pick<Measured, 'loadBefore' | 'referenceMs'>,
): Promise<void> {
  const measured = {
    at: new Date().toISOString(),
    node: process.version,
    processors: cpus().length,
    machine: machine(),
    ...before,
    ...result,
  };
  const sections = { ...(await measuredSections()), [name]: measured };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(FILE, `${JSON.stringify({ sections }, undefined, 2)}\n`);
}
