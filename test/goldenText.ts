/** What kubectl prints, kept in files and compared. What differs from run to run is replaced by words of the same width where columns depend on it. */
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
  const wanted = await readFile(file, 'utf8').catch(() => '');
  assert.equal(text, wanted, `differs from test/golden/${path}; UPDATE_GOLDEN=1 writes it anew`);
}

const AGE = String.raw`\d+[smhd](?:\d+[smh])?`;

/** In this order: each pattern sees what the ones before it left. */
const replacements: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/g, 'TIME'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/(Target: +)[0-9a-f]{16}\b/g, '$1HASH'],
  [/(Resource Version: +)\d+/g, '$1NUMBER'],
  // The last column, then a column with others behind it, as wide as its head.
  [new RegExp(` ${AGE}$`, 'gm'), ' 0s'],
  [new RegExp(` ${AGE} {2,}`, 'g'), ' 0s    '],
  // Ages of more than three characters widen it.
  [/\bAGE {3,}/g, 'AGE   '],
];

/** The text without what differs from run to run: times, ages, ids, versions of objects, addresses of nodes. */
export function withoutChance(text: string): string {
  const nodes = [...new Set(text.match(/\bip-10(?:-\d+){3}\b/g))].sort();
  const named = nodes.reduce((before, node, index) => before.replaceAll(node, `ip-10-0-0-${index + 1}`), text);
  const plain = replacements.reduce((before, [pattern, by]) => before.replace(pattern, by), named);
  // kubectl adds trailing spaces and empty lines, which editors remove.
  return `${plain.replace(/[ \t]+$/gm, '').trimEnd()}\n`;
}
