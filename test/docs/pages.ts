/** The pages of the documentation. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The text of a file below the root. */
export const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** All Markdown files below the root, sorted. */
export const pages = globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules', 'build', '.git'] }).sort();
