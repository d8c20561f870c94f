/** The output of kubectl, compared with files. Values that differ between runs are replaced by text of the same width where columns depend on it. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('golden/', import.meta.url);

/** Compares with test/golden/NAME, which is a .txt without another extension; with UPDATE_GOLDEN=1 it writes that file. */
export async function assertGolden(name: string, text: string): Promise<void> {
  const path = name.includes('.') ? name : `${name}.txt`;
  const file = fileURLToPath(new URL(path, FOLDER));
  if (process.env.UPDATE_GOLDEN === '1') {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return;
  }
  const golden = await readFile(file, 'utf8').catch(() => '');
  assert.equal(text, golden, `differs from test/golden/${path}; UPDATE_GOLDEN=1 updates it`);
}

const AGE = String.raw`\d+[smhd](?:\d+[smh])?`;

/** In this order: each pattern is applied to the result of the previous ones. */
const replacements: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/g, 'TIME'],
  [/\b\d{2}:\d{2}Z/g, 'HH:MMZ'],
  [/\bi-[0-9a-f]{17}\b/g, 'i-INSTANCE'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/(Target: +)[0-9a-f]{16}\b/g, '$1HASH'],
  [/(Resource Version: +)\d+/g, '$1NUMBER'],
  [new RegExp(` ${AGE}$`, 'gm'), ' 0s'],
];

/** The table with each age as 0s. The column of ages, which is as wide as its longest value, gets the width of its header; others keep theirs. */
function withoutAges(text: string): string {
  let tooWide = 0;
  return text
    .split('\n')
    .map((line) => {
      const head = line.match(/\bAGE( {3,})/)?.[1];
      if (head !== undefined) tooWide = head.length - 3;
      const shorter = (_: string, age: string, rest: string) =>
        ` 0s${' '.repeat(age.length + rest.length - 2 - tooWide)}`;
      return line
        .replace(/\bAGE {3,}/, 'AGE   ')
        .replace(new RegExp(` (${AGE})( {2,})`), (...found) =>
          head === undefined ? shorter(...(found as [string, string, string])) : found[0],
        );
    })
    .join('\n');
}

/** The events in the order of their reasons: kubectl sorts them by the second in which they occurred. */
function withSortedEvents(text: string): string {
  const [before, heading, events] = text.split(/^(Events:\n.*\n +---.*\n)/m);
  if (!heading || events === undefined) return text;
  const reasonOf = (line: string) => line.trim().split(/ +/)[1] ?? '';
  const lines = events.trimEnd().split('\n');
  const sorted = lines.toSorted((a, b) => reasonOf(a).localeCompare(reasonOf(b)));
  return `${before}${heading}${sorted.join('\n')}\n`;
}

/** The text without values that differ between runs: times, ages, IDs, versions of objects, addresses of nodes, which are numbered as they appear. */
export function normalized(text: string): string {
  const nodes = [...new Set(text.match(/\bip-10(?:-\d+){3}\b/g))];
  const named = nodes.reduce((before, node, index) => before.replaceAll(node, `ip-10-0-0-${index + 1}`), text);
  const replaced = withoutAges(replacements.reduce((before, [pattern, by]) => before.replace(pattern, by), named));
  // kubectl adds trailing spaces and empty lines, which editors remove.
  return `${withSortedEvents(replaced)
    .replace(/[ \t]+$/gm, '')
    .trimEnd()}\n`;
}
