/** How programs are bundled: the operator, and what the benches measure in its place. */
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { thirdPartyNotices } from './licences.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A file that was written. */
interface Bundled {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly bytes: number;
}

/**
 * Bundles the program `entry`, a path from the project's root, into `outdir`, which it empties; its first file is `<name>.mjs`. One bundle
 * starts faster and needs less memory than its packages apart. The same sources give the same bytes. Beside it are its licence and those of
 * the packages in it.
 */
export async function bundle(entry: string, name: string, outdir: string): Promise<readonly Bundled[]> {
  // Chunks are named after their content: an older build would leave its own behind.
  await rm(resolve(ROOT, outdir), { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { [name]: entry },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What is imported at its first use is a chunk of its own: the EC2 client, the reader of kubeconfigs.
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    // Identifiers stay: a stack trace must be readable.
    minifyIdentifiers: false,
    format: 'esm',
    // Of ES modules only what is used gets into the bundle.
    mainFields: ['module', 'main'],
    platform: 'node',
    target: 'node22',
    // THIRD_PARTY_NOTICES has the licences whole.
    legalComments: 'none',
    // debug (of client-node) tries to load it for colours and goes on without. It is there only as a package of a test tool, and what is
    // installed for tests must not change what ships.
    external: ['supports-color'],
    metafile: true,
    plugins: [sheddableSchemas],
    // Packages that are CommonJS inside call require, which ES modules do not have.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  await copyFile(join(ROOT, 'LICENSE'), resolve(ROOT, outdir, 'LICENSE'));
  const notices = await thirdPartyNotices(ROOT, Object.keys(metafile.inputs));
  await writeFile(resolve(ROOT, outdir, 'THIRD_PARTY_NOTICES'), notices);
  return Object.entries(metafile.outputs).map(([file, { bytes }]) => ({ file, bytes }));
}

/**
 * The SDK's clients describe every shape of their service in one file of array literals. esbuild must keep each of them, because the keys
 * that they compute could have effects. They have none; said so, what no command in use needs is left out: 62 KB of EC2 in place of 1.4 MB.
 */
const sheddableSchemas: Plugin = {
  name: 'sheddable-schemas',
  setup: (esbuild) =>
    esbuild.onLoad(
      { filter: /@aws-sdk[\\/]client-[^\\/]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ },
      async ({ path }) => {
        const schema = /^((?:export )?var [\w$]+ = )(\[[\s\S]*?\]);$/gm;
        const text = await readFile(path, 'utf8');
        if (!schema.test(text))
          throw new Error(
            `${path} looks different than this plugin expects: compare it with the SDK's version before.`,
          );
        return { contents: text.replace(schema, '$1/* @__PURE__ */ (() => $2)();') };
      },
    ),
};
