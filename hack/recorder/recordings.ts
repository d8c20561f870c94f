/** Compares two recordings. Pure. */
import { compareEntries, type IsExpected, missingCase } from './compare.ts';
import type { Difference } from './difference.ts';
import { type Entry, FORMAT, type Header } from './entry.ts';

export interface Differences {
  /** How many cases both have. */
  readonly cases: number;
  /** How many lives were compared only in part. */
  readonly cut: number;
  readonly differences: readonly Difference[];
}

/** The differences between two recordings, as text. Throws if one has another format. */
export function compareRecordings(before: string, after: string, isExpected: IsExpected): Differences {
  const [old, now] = [linesOf(before), linesOf(after)];
  const [oldEntries, newEntries] = [entriesIn(old, new Set(now)), entriesIn(now, new Set(old))];
  const both = [...newEntries].flatMap(([name, entry]) => {
    const other = oldEntries.get(name);
    return other ? [compareEntries(other, entry, isExpected)] : [];
  });
  const only = (own: typeof oldEntries, other: typeof oldEntries, version: 'before' | 'after') =>
    [...own.keys()].filter((name) => !other.has(name)).map((name) => missingCase(name, version));
  const added = only(newEntries, oldEntries, 'after');
  return {
    cases: now.length - added.length,
    cut: both.filter(({ isCut }) => isCut).length,
    differences: [
      ...both.flatMap(({ differences }) => differences),
      ...added,
      ...only(oldEntries, newEntries, 'before'),
    ],
  };
}

function linesOf(recording: string): readonly string[] {
  const [header = '{}', ...lines] = recording.trimEnd().split('\n');
  const { format } = JSON.parse(header) as Header;
  if (format !== FORMAT) throw new Error(`A recording has format ${format}, and this version compares ${FORMAT}.`);
  return lines;
}

/** The entries by name, without those that are equal in the other recording. */
function entriesIn(lines: readonly string[], others: ReadonlySet<string>): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of lines.filter((each) => !others.has(each))) {
    const entry = JSON.parse(line) as Entry;
    if (entries.has(entry.name)) throw new Error(`Two cases have the name ${entry.name}: give one of them another.`);
    entries.set(entry.name, entry);
  }
  return entries;
}
