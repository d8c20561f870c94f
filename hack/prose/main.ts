/**
 * Part of `make lint`: fails if prose has a word of terms.ts, and prints each in the format of a compiler. With --count it prints the
 * number for each file. With paths it reads only files at or below them.
 */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FILES, findingsOf, GENERATED } from './file.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const { values, positionals } = parseArgs({ options: { count: { type: 'boolean' } }, allowPositionals: true });
const chosen = positionals.map((path) => relative(ROOT, path));
const files = globSync(FILES, { cwd: ROOT, exclude: ['**/node_modules', 'build', '.git', ...GENERATED] })
  .filter((file) => chosen.length === 0 || chosen.some((path) => file === path || file.startsWith(join(path, '/'))))
  .sort();

let total = 0;
for (const file of files) {
  const findings = await findingsOf(file, await readFile(join(ROOT, file), 'utf8'));
  if (findings.length === 0) continue;
  total += findings.length;
  if (values.count) console.log(`${findings.length} ${file}`);
  else
    for (const { line, column, found, suggestion } of findings)
      console.log(`${file}:${line}:${column}  ${found} -> ${suggestion}`);
}
if (total > 0) {
  console.error(`Prose: ${total} findings. The terms, and why each is one: hack/prose/terms.ts.`);
  process.exitCode = 1;
}
