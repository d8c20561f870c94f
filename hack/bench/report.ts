/** The output and the files of `make bench`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import type { Result } from './section.ts';
import { round } from './statistics.ts';

const FILE = 'build/bench.json';

/** Prints the table of a section, and compares its figures with their limits. */
export function print(name: string, { how, rows, marks = [] }: Result): void {
  console.log(`\n${name}: ${how}`);
  console.table(rows);
  for (const { name: mark, value, limit } of marks)
    console.log(`  ${value <= limit ? 'met   ' : 'MISSED'} ${mark}: ${value}, at most ${limit}`);
}

/** Writes a section to build/bench.json. Sections of earlier calls are kept with their times, so that a long section need not run again. */
export async function keep(name: string, result: Result): Promise<void> {
  const before = await readFile(FILE, 'utf8').catch(() => '{}');
  const { sections = {} } = JSON.parse(before) as { sections?: Record<string, unknown> };
  const [load = 0] = loadavg();
  const machine = { node: process.version, processors: cpus().length, loadOfLastMinute: round(load, 1) };
  const measured = { at: new Date().toISOString(), ...machine, ...result };
  await mkdir('build', { recursive: true });
  await writeFile(FILE, `${JSON.stringify({ sections: { ...sections, [name]: measured } }, undefined, 2)}\n`);
}
