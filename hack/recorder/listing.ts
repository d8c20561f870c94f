/** Differences as text. Pure. */
import { type Difference, GROUPS } from './difference.ts';
import type { Json } from './entry.ts';
import { type Expected, expectedFor } from './expected.ts';

/** How many paths of a group are listed, and how many examples of each. */
const [PATHS, EXAMPLES] = [15, 3];
/** The length of a value in characters. */
const LONGEST = 120;

export interface Listing {
  readonly lines: readonly string[];
  /** Whether anything differs that is not expected. */
  readonly fails: boolean;
}

/** The differences by group and path. Texts count only with `texts`. */
export function listingOf(all: readonly Difference[], expected: readonly Expected[], texts: boolean): Listing {
  const byEntry = Map.groupBy(all, (difference) => expectedFor(expected, difference));
  const unexpected = byEntry.get(undefined) ?? [];
  const counted = unexpected.filter(({ group }) => texts || group !== 'texts');
  const ignored = unexpected.length - counted.length;
  return {
    lines: [
      ...GROUPS.flatMap((group) =>
        groupLines(
          group,
          counted.filter((each) => each.group === group),
        ),
      ),
      ...(ignored > 0 ? [`texts: ${ignored} ${ignored === 1 ? 'differs' : 'differ'}, which --texts lists`] : []),
      ...expected.flatMap((entry) => expectedLines(entry, byEntry.get(entry) ?? [])),
    ],
    fails: counted.length > 0,
  };
}

function groupLines(group: string, found: readonly Difference[]): string[] {
  if (found.length === 0) return [];
  const byPath = [...Map.groupBy(found, ({ path }) => path.replace(/\.\d+(?=\.|$)/g, '.*'))];
  const sorted = byPath.sort(([, a], [, b]) => b.length - a.length);
  return [
    `${group}: ${found.length} in ${casesOf(found)}`,
    ...sorted.slice(0, PATHS).flatMap(([path, examples]) => pathLines(path, examples)),
    ...more(sorted.length - PATHS, '  '),
  ];
}

function pathLines(path: string, found: readonly Difference[]): string[] {
  const examples = found
    .slice(0, EXAMPLES)
    .map(({ before, after, case: name }) => `    ${name}: ${inWords(before)} -> ${inWords(after)}`);
  return [`  ${path}: ${found.length}`, ...examples, ...more(found.length - EXAMPLES, '    ')];
}

function expectedLines({ group, path, reason }: Expected, found: readonly Difference[]): string[] {
  const count = found.length === 0 ? 'none found: remove the entry' : `${found.length} in ${casesOf(found)}`;
  return [`expected, ${group} ${path}: ${count}. ${reason}`];
}

function casesOf(found: readonly Difference[]): string {
  const { size } = new Set(found.map((each) => each.case));
  return size === 1 ? '1 case' : `${size} cases`;
}

function more(count: number, indent: string): string[] {
  return count > 0 ? [`${indent}and ${count} more`] : [];
}

function inWords(value: Json | undefined): string {
  if (value === undefined) return '(none)';
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}
