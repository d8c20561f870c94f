/** Bundles programs like the product, so that the shipped code is measured. */
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.ts';

const FOLDER = 'build/bench';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Bundles a program of this folder, such as `coldSync/ours.ts`, and returns the path of the bundle. */
export async function bundleProgram(entry: string): Promise<string> {
  const name = basename(entry, '.ts');
  const folder = join(FOLDER, name);
  await bundle(join('hack/bench', entry), name, folder);
  return join(ROOT, folder, `${name}.mjs`);
}
