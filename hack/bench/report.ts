/** The output and the file of `make bench`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOf } from './figures.ts';
import type { Result } from './section.ts';
import { round } from './statistics.ts';

const FOLDER = fileURLToPath(new URL('../../build/', import.meta.url));
const FILE = join(FOLDER, 'bench.json');

/** A section in the file. */
export interface Measured extends Result {
  /** ISO 8601. */
  readonly at: string;
  readonly node: string;
  readonly processors: number;
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
    const { name: what, value, goal } = figure;
    const verdict = goal === undefined ? '' : value <= goal ? `, met: at most ${goal}` : `, MISSED: at most ${goal}`;
    console.log(`  ${what}: ${textOf(figure)}${verdict}`);
  }
}

/** The sections in build/bench.json. */
export async function measuredSections(): Promise<MeasuredSections> {
  const text = await readFile(FILE, 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { sections?: MeasuredSections }).sections ?? {};
}

/** Writes a section to build/bench.json. Sections of earlier calls are kept with their times, so that a long section need not run again. */
export async function keep(name: string, result: Result, loadBefore: number): Promise<void> {
  const measured = {
    at: new Date().toISOString(),
    node: process.version,
    processors: cpus().length,
    loadBefore,
    ...result,
  };
  const sections = { ...(await measuredSections()), [name]: measured };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(FILE, `${JSON.stringify({ sections }, undefined, 2)}\n`);
}
