/** What `make bench` shows and keeps. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Result } from './section.ts';

const FILE = 'build/bench.json';

/** Prints a section's table and how its figures stand to their limits. */
export function print(name: string, { how, rows, marks = [] }: Result): void {
  console.log(`\n${name}: ${how}`);
  console.table(rows);
  for (const { name: mark, value, limit } of marks)
    console.log(`  ${value <= limit ? 'met   ' : 'MISSED'} ${mark}: ${value}, at most ${limit}`);
}

/** Puts a section into build/bench.json. Those of earlier calls stay, each with its own time: a long section need not run again. */
export async function keep(name: string, result: Result): Promise<void> {
  const before = await readFile(FILE, 'utf8').catch(() => '{}');
  const { sections = {} } = JSON.parse(before) as { sections?: Record<string, unknown> };
  const measured = { at: new Date().toISOString(), node: process.version, processors: cpus().length, ...result };
  await mkdir('build', { recursive: true });
  await writeFile(FILE, `${JSON.stringify({ sections: { ...sections, [name]: measured } }, undefined, 2)}\n`);
}
