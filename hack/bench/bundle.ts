/** Bundles programs as the product is bundled, so that what is measured is what ships. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { runCommand } from '../controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'build/bench');

/** Builds the operator anew by hack/build.ts and gives the path of its bundle. */
export async function bundleOperator(signal: AbortSignal): Promise<string> {
  const outdir = join(FOLDER, 'operator');
  const args = [join(ROOT, 'hack/build.ts'), outdir];
  const { code, stderr } = await runCommand(process.execPath, args, { cwd: ROOT, timeoutMs: 60_000, signal });
  if (code !== 0) throw new Error(`hack/build.ts failed:\n${stderr}`);
  return join(outdir, 'operator.mjs');
}

/** Bundles a program of this folder, such as `coldSync/ours.ts`, with the settings of hack/build.ts, and gives the bundle's path. */
export async function bundleProgram(entry: string): Promise<string> {
  const outfile = join(FOLDER, entry.replace(/\.ts$/, '.mjs'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [join('hack/bench', entry)],
    outfile,
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    mainFields: ['module', 'main'],
    platform: 'node',
    target: 'node22',
    legalComments: 'none',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outfile;
}
