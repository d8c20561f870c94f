/** Bundles programs: the operator, and the programs that the benchmarks measure. */
import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import manifest from '../package.json' with { type: 'json' };
import { type BundledPackage, packagesOf, thirdPartyNotices } from './licences.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * The SDK's clients describe every shape of their service in one file of array literals. esbuild must keep each of them, because their
 * computed keys could have side effects. They have none; with this annotation, the shapes of unused commands are omitted: 62 KB of EC2
 * instead of 1.4 MB.
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
            `${path} has another format than this plugin expects: compare it with the previous version of the SDK.`,
          );
        return { contents: text.replace(schema, '$1/* @__PURE__ */ (() => $2)();') };
      },
    ),
};

/**
 * An ES module that imports node:http evaluates all its getters. That of WebSocket loads undici, which nothing in the bundles uses: 14 MB, and more time
 * than the start of Node.js itself. The bundles import the values of the module instead.
 */
const httpWithoutUndici: Plugin = {
  name: 'http-without-undici',
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: 'http', namespace: 'http-without-undici' },
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'http-without-undici' }, () => {
      const values = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(
        ([, property]) => 'value' in property,
      );
      const names = values.map(([name]) => name).join(', ');
      return {
        contents: `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names} } = http;`,
      };
    });
  },
};

/** WebAssembly files are beside the bundle, where they need no memory until they are read, and in the file of an executable. */
const wasmFiles: Plugin = {
  name: 'wasm-files',
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /controllers[\\/]kubernetes[\\/]wasm\.ts$/ }, ({ path }) => ({
      contents: `import { readFileSync } from 'node:fs';
import grammarFile from 'tree-sitter-powershell/tree-sitter-powershell.wasm';
import treeSitterFile from 'web-tree-sitter/web-tree-sitter.wasm';
const read = (file) => (typeof file === 'string' ? readFileSync(new URL(file, import.meta.url)) : file);
export const grammar = read(grammarFile);
export const treeSitter = read(treeSitterFile);`,
      resolveDir: dirname(path),
    })),
};

const OPTIONS = {
  absWorkingDir: ROOT,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // Lazily imported modules are separate chunks: the EC2 client, the reader of kubeconfigs.
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  // Identifiers are kept, so that stack traces are readable.
  minifyIdentifiers: false,
  format: 'esm',
  // Unused parts of ES modules are omitted from the bundle.
  mainFields: ['module', 'main'],
  platform: 'node',
  // A package has the path that package-lock.json gives it, also where node_modules is a link.
  preserveSymlinks: true,
  target: 'node22',
  // THIRD_PARTY_NOTICES has the full licences.
  legalComments: 'none',
  // debug (of client-node) tries to load it for colours and goes on without. It is there only as a package of a test tool, and what is
  // installed for tests must not change what ships.
  external: ['supports-color'],
  metafile: true,
  plugins: [sheddableSchemas, httpWithoutUndici, wasmFiles],
  loader: { '.wasm': 'file' },
  // Bundled CommonJS code calls require, which does not exist in ES modules.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  define: { 'process.env.NODE_ENV': '"production"' },
} as const satisfies BuildOptions;

/** A file that was written. */
interface Bundled {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly bytes: number;
  /** The source, from the root of the project, whose chunk it is: the program's entry, or a module that is loaded at its first use. */
  readonly source: string | undefined;
}

/**
 * Bundles the program `entry`, a path from the project's root, into `outdir`, which it empties; its first file is `<name>.mjs`. One bundle
 * starts faster and needs less memory than its packages apart. The same sources give the same bytes. Beside it are its licence and those of
 * the packages in it. Throws where a CommonJS package is imported lazily: see `lazyCommonJs`.
 */
export function bundle(entry: string, name: string, outdir: string): Promise<readonly Bundled[]> {
  return write({ ...OPTIONS, entryPoints: { [name]: entry }, outdir }, outdir);
}

/** Bundles a program into one executable file, `<outdir>/<name>`, which runs with the Node.js on PATH. Otherwise as `bundle`. */
export async function bundleExecutable(entry: string, name: string, outdir: string): Promise<readonly Bundled[]> {
  const { outExtension: _, ...options } = OPTIONS;
  const outfile = join(outdir, name);
  const banner = { js: `#!/usr/bin/env node\n${OPTIONS.banner.js}\n${refusal(name)}` };
  const loader = { '.wasm': 'binary' } as const;
  const written = await write({ ...options, loader, splitting: false, banner, entryPoints: [entry], outfile }, outdir);
  await chmod(resolve(ROOT, outfile), 0o755);
  return written;
}

/** Code that ends the program on a Node.js older than package.json requires, where it would fail with a stack later. */
function refusal(name: string): string {
  const least = manifest.engines.node.replace('>=', '');
  const [major, minor] = least.split('.').map(Number);
  const program = name.replace('-', ' ');
  return `{
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${major} || (major === ${major} && minor < ${minor})) {
console.error('${program} needs Node.js ${least} or newer, and PATH has ' + process.versions.node + '. Install a newer one, and put it first on PATH.');
process.exit(1);
}
}`;
}

async function write(options: BuildOptions, outdir: string): Promise<readonly Bundled[]> {
  // Chunks are named after their content: an older build would leave its own behind.
  await rm(resolve(ROOT, outdir), { recursive: true, force: true });
  const { metafile } = await build({ ...options, metafile: true });
  await copyFile(join(ROOT, 'LICENSE'), resolve(ROOT, outdir, 'LICENSE'));
  const [broken] = lazyCommonJs(metafile);
  if (broken) {
    await rm(resolve(ROOT, outdir), { recursive: true, force: true });
    throw new Error(broken);
  }
  const notices = await thirdPartyNotices(ROOT, await packagesOf(ROOT, contained(metafile)));
  await writeFile(resolve(ROOT, outdir, 'THIRD_PARTY_NOTICES'), notices);
  return Object.entries(metafile.outputs).map(([file, { bytes, entryPoint: source }]) => ({ file, bytes, source }));
}

/** The packages of which code is in the bundle of a program, which is not written. `entry` is a path from the root of the project. */
export async function bundledPackages(entry: string): Promise<readonly BundledPackage[]> {
  const { metafile } = await build({ ...OPTIONS, entryPoints: [entry], outdir: 'build/not-written', write: false });
  return packagesOf(ROOT, contained(metafile));
}

/** The files of which a part is in the output, as paths from the root. Others were read, but nothing uses them. */
function contained({ outputs }: Metafile): readonly string[] {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

/**
 * The dynamic imports of CommonJS modules, in words. Node gives such an import named exports; in a bundle of ES modules it has `default` alone
 * (esbuild 0.28.2; bundle.test.ts shows it), so `const { parse } = await import('yaml')` works in every test of the sources and fails in what
 * ships. A static import works in both.
 */
function lazyCommonJs({ inputs }: Metafile): string[] {
  return Object.entries(inputs).flatMap(([importer, { imports }]) =>
    imports
      .filter(({ kind, external, path }) => kind === 'dynamic-import' && !external && inputs[path]?.format !== 'esm')
      .map(
        ({ path, original = path }) =>
          `${importer} imports ${original} lazily, which is CommonJS: in the bundle it has no named exports. Import it statically in a module of its own, and import that module lazily (see controllers/kubernetes/roleMappings.ts).`,
      ),
  );
}
