/** The bundles of the operator and of the plugin that the tests, the demo and the benchmark run: built once for the same sources, shared by all processes. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, bundleExecutable } from './bundle.ts';
import { withLock } from './controlplane/lock.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SOURCES = fileURLToPath(new URL('../cmd/operator/main.ts', import.meta.url));
const FOLDER = join(ROOT, 'build/operator-bundles');
const PLUGIN_FOLDER = join(ROOT, 'build/plugin-bundles');
/** The inputs of the bundle: the sources, and the lock file for the packages and the bundler. */
const INPUTS = [
  'cmd',
  'controllers',
  'hack/bundle.ts',
  'hack/licences.ts',
  'package.json',
  'package-lock.json',
  'LICENSE',
];
const BUILD_TIMEOUT_MS = 120_000;
/** A bundle that was not requested for this time is of outdated sources. */
const UNUSED_MS = 24 * 3_600_000;

/**
 * The file that Node runs as the operator: the bundle that ships, which is built when the sources have changed. OPERATOR=sources gives
 * cmd/operator/main.ts, so that stack traces and a debugger show the sources. Throws on any other value but `bundle`.
 */
export async function operatorEntry(choice = process.env.OPERATOR ?? 'bundle'): Promise<string> {
  if (choice === 'sources') return SOURCES;
  if (choice === 'bundle') return operatorBundle();
  throw new Error(`OPERATOR=${choice}: must be "bundle", which is the default, or "sources".`);
}

/** The path of operator.mjs of the bundle of these sources. Processes that ask at the same time wait for one build. */
export async function operatorBundle(folder = FOLDER, build = buildInto): Promise<string> {
  return join(await builtOnce(folder, build), 'operator.mjs');
}

/** The path of kubectl-windowspool of these sources, as `make kubectl-plugin` builds it. Built once, as the operator's bundle. */
export async function pluginBundle(): Promise<string> {
  const name = 'kubectl-windowspool';
  const build = async (into: string) => void (await bundleExecutable('cmd/kubectl-windowspool/main.ts', name, into));
  return join(await builtOnce(PLUGIN_FOLDER, build), name);
}

/** The folder of the bundle of these sources, in `folder`. */
async function builtOnce(folder: string, build: (into: string) => Promise<void>): Promise<string> {
  const name = await digest(INPUTS);
  const target = join(folder, name);
  if (!existsSync(target)) {
    await mkdir(folder, { recursive: true });
    const lock = { onWait: () => undefined, timeoutMs: BUILD_TIMEOUT_MS };
    await withLock(folder, lock, async () => {
      if (existsSync(target)) return;
      await removeUnused(folder);
      // Moved atomically when it is complete.
      const partial = `${target}.${process.pid}.partial`;
      try {
        await build(partial);
        await rename(partial, target);
      } finally {
        await rm(partial, { recursive: true, force: true });
      }
    });
  }
  await utimes(target, new Date(), new Date());
  return target;
}

async function buildInto(folder: string): Promise<void> {
  await bundle('cmd/operator/main.ts', 'operator', folder);
}

async function removeUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const used = await stat(path).catch(() => undefined);
    if (used && Date.now() - used.mtimeMs > UNUSED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** A digest of the names and contents of files, and of all files of folders but tests. */
async function digest(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths)
    for (const file of await filesOf(path)) hash.update(file).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(join(ROOT, path))).isDirectory()) return [path];
  const entries = await readdir(join(ROOT, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/\.(test\.ts|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .sort();
}
