/**
 * Part of `make lint`: prints where docs, code, comments, messages and YAML have a word of terms.ts, and fails if one does. With paths,
 * it reads only files at or below them.
 */
import { globSync, readFileSync } from 'node:fs';
import { findTerms } from './terms.ts';

const FILES = [
  '**/*.md',
  '{cmd,controllers,hack,test}/**/*.ts',
  '{crds,config,hack,test}/**/*.yaml',
  'config/charts/*/{values.schema.json,templates/NOTES.txt}',
  'Makefile',
];
/** The words themselves, and copies, whose sources are read. */
const EXCLUDED = ['hack/prose', '**/*.gen.ts', 'config/charts/*/files', 'config/charts/*/values.yaml'];

process.chdir(new URL('../../', import.meta.url).pathname);
const [, , ...paths] = process.argv;
for (const file of globSync(FILES, { exclude: ['**/node_modules', 'build', ...EXCLUDED] }).sort()) {
  if (paths.length > 0 && !paths.some((path) => `${file}/`.startsWith(`${path.replace(/\/$/, '')}/`))) continue;
  for (const { line, found, instead } of findTerms(readFileSync(file, 'utf8'))) {
    console.error(`${file}:${line}: "${found}" is no word of the Kubernetes documentation. Use instead: ${instead}`);
    process.exitCode = 1;
  }
}
