/** Bundles programs as the product is bundled, so that what is measured is what ships. */
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.ts';

const FOLDER = 'build/bench';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the operator anew and gives the path of its bundle. */
export function bundleOperator(): Promise<string> {
  return bundled('cmd/operator/main.ts', 'operator');
}

/** Bundles a program of this folder, such as `coldSync/ours.ts`, and gives the bundle's path. */
export function bundleProgram(entry: string): Promise<string> {
  return bundled(join('hack/bench', entry), basename(entry, '.ts'));
}

async function bundled(entry: string, name: string): Promise<string> {
  const folder = join(FOLDER, name);
  await bundle(entry, name, folder);
  return join(ROOT, folder, `${name}.mjs`);
}
