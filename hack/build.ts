/** Bundles the operator into one file, build/operator.mjs: it starts faster and needs less memory than its packages apart. */
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

await rm('build/operator', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { operator: 'cmd/operator/main.ts' },
  outdir: 'build/operator',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // The EC2 client is a chunk of its own, loaded at its first use.
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  legalComments: 'none',
  metafile: true,
  // Packages that are CommonJS inside call require, which ES modules do not have.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // In the image the version stands beside the bundle, as in the checkout.
  define: { 'process.env.NODE_ENV': '"production"' },
});
for (const [file, { bytes }] of Object.entries(metafile.outputs))
  console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
