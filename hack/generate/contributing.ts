/** The table of promises in CONTRIBUTING.md. */
import { readFile } from 'node:fs/promises';
import { promises } from '../suites/promises.ts';
import { withTable } from './table.ts';

const PAGE = 'CONTRIBUTING.md';

/** CONTRIBUTING.md with the table of promises. */
export async function contributing(): Promise<string> {
  const page = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
  const rows = promises.map(({ promise, inMemory, test, testAll }) => [
    promise,
    ...[inMemory, test, testAll].map(cell),
  ]);
  return withTable(PAGE, page, 'promises', [['promise', 'in memory', '`make test`', 'only `make test-all`'], ...rows]);
}

/** Names without the parts that are the same in a column. */
function cell(names: readonly string[] = []): string {
  return names.map((name) => name.replace(/^controllers\/windowspool\//, '').replace(/\.test\.ts$/, '')).join(', ');
}
