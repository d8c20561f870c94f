/**
 * `node hack/bench/page.ts`: writes the table of docs/reference/performance.md from build/bench.json, so that no figure is copied by hand, and
 * keeps the figures as the record with which `make bench` compares the next ones.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { conditionsOf, tableOf, withTable } from './figureTable.ts';
import { measuredSections, record, recordedSections } from './report.ts';

const PAGE = fileURLToPath(new URL('../../docs/reference/performance.md', import.meta.url));

const measured = await measuredSections();
if (Object.keys(measured).length === 0) {
  console.error('build/bench.json has no figures. Run make bench.');
  process.exitCode = 1;
} else {
  // On a new machine, the file lacks the sections that were not measured there.
  const sections = { ...(await recordedSections()), ...measured };
  const text = `${conditionsOf(sections)}\n\n${tableOf(sections)}`;
  await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), text));
  await record(sections);
}
