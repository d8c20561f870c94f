/** A store's content as text that does not depend on who writes it: one record a line, by name, keys sorted. */
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';

/** The text of baseline/record.go for the same nodes. */
export function dump(records: readonly NodeRecord[]): string {
  return [...records]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((record) => `${JSON.stringify(sorted(record))}\n`)
    .join('');
}

/** The first line in which two dumps differ, with both versions; undefined when they are equal. */
export function firstDifference(ours: string, theirs: string): string | undefined {
  if (ours === theirs) return undefined;
  const [a, b] = [ours.split('\n'), theirs.split('\n')];
  const line = a.findIndex((text, index) => text !== b[index]);
  const at = line < 0 ? a.length : line;
  return `${a.length - 1} and ${b.length - 1} nodes; line ${at + 1} differs:\n${a[at] ?? 'missing'}\n${b[at] ?? 'missing'}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}
