/** The output and the file of `make bench`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goalResult, isWorse, textOf } from './figures.ts';
import type { Result } from './section.ts';
import { round } from './statistics.ts';

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
}

export type MeasuredSections = Readonly<Record<string, Measured>>;

/** The load of the machine before a section, which disturbs it. */
export function loadNow(): number {
  return round(loadavg()[0] ?? 0, 1);
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

/** The figures of a section that are worse than in a record of the same kind of machine, as lines. */
export function regressions({ figures }: Result, recorded: Measured | undefined): string[] {
  if (!recorded || recorded.machine !== machine()) return [];
  const before = new Map(recorded.figures.map((figure) => [figure.name, figure]));
  return figures.flatMap((figure) => {
    const known = before.get(figure.name);
    return known && isWorse(figure, known) ? [`${figure.name}: ${textOf(figure)}, before: ${textOf(known)}`] : [];
  });
}

function machine(): string {
  const all = cpus();
  return `${all.length} x ${all[0]?.model.trim()}`;
}

/** Writes a section to build/bench.json. Sections of earlier calls are kept with their times, so that a long section need not run again. */
export async function keep(name: string, result: Result, loadBefore: number): Promise<void> {
  const measured = {
    at: new Date().toISOString(),
    node: process.version,
    processors: cpus().length,
    machine: machine(),
    loadBefore,
    ...result,
  };
  const sections = { ...(await measuredSections()), [name]: measured };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(FILE, `${JSON.stringify({ sections }, undefined, 2)}\n`);
}
