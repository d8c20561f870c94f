/** A store's content as text that does not depend on who writes it: one record a line, by name, keys sorted. A large one does not fit in a string. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';

type Lines = Iterable<string> | AsyncIterable<string>;

/** The lines of baseline/record.go for the same nodes. */
export function* linesOf(records: readonly NodeRecord[]): Generator<string> {
  for (const record of [...records].sort((a, b) => (a.name < b.name ? -1 : 1))) yield JSON.stringify(sorted(record));
}

/** Writes them to a file. */
export async function dump(file: string, records: readonly NodeRecord[]): Promise<void> {
  await writeFile(
    file,
    linesOf(records).map((line) => `${line}\n`),
  );
}

/** The lines of a file. */
export async function* linesIn(file: string): AsyncGenerator<string> {
  const input = createReadStream(file);
  try {
    yield* createInterface({ input });
  } finally {
    input.destroy();
  }
}

/** The first line in which two dumps differ, with both versions; undefined when they are equal. */
export async function firstDifference(ours: Lines, theirs: Lines): Promise<string | undefined> {
  const others = each(theirs);
  try {
    let number = 1;
    for await (const line of ours) {
      const { value = 'missing' } = await others.next();
      if (line !== value) return `line ${number} differs:\n${line}\n${value}`;
      number++;
    }
    const { value } = await others.next();
    return value === undefined ? undefined : `line ${number} differs:\nmissing\n${value}`;
  } finally {
    await others.return(undefined);
  }
}

async function* each(lines: Lines): AsyncGenerator<string, undefined> {
  yield* lines;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}
