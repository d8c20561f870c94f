import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { withLock } from '../controlplane/lock.ts';
import { buildProgram, checkGo, ldflags, readGoMod } from './build.ts';
import { type GoModule, type Program, whyUnusable } from './program.ts';

export type Log = (line: string) => void;

/** Longer than any build, even on one slow core. */
const lockTimeoutMs = 60 * 60_000;

/**
 * Finds the programs of a module, or the named ones, as absolute paths: each in $KUBEBUILDER_ASSETS, on PATH, or in the cache folder;
 * otherwise builds it there with Go. `log` gets one line for each program that is built or skipped. Rejects with the version to install if
 * Go is required and missing, and with Go's output if a build fails.
 */
export async function ensurePrograms<Name extends string>(
  module: GoModule<Name>,
  log: Log,
  signal?: AbortSignal,
  names: readonly Name[] = module.programs.map(({ name }) => name),
): Promise<Readonly<Record<Name, string>>> {
  const found = new Map<Name, string>();
  const cache = await cacheFolder(module);
  const folders = installFolders(process.env);
  const wanted = module.programs.filter(({ name }) => names.includes(name));
  const find = async (program: Program<Name>) => {
    const path = (await findInstalled(program, folders, log, signal)) ?? (await findCached(program, cache));
    if (path) found.set(program.name, path);
  };
  await Promise.all(wanted.map(find));
  const missing = wanted.filter(({ name }) => !found.has(name));
  if (missing.length > 0) {
    await buildMissing(module, missing, cache, log, signal);
    for (const { name } of missing) found.set(name, join(cache, name));
  }
  return Object.fromEntries(found) as Record<Name, string>;
}

/** Folders to look in, first $KUBEBUILDER_ASSETS, then those of PATH. Relative ones are resolved from the current folder. */
export function installFolders(env: NodeJS.ProcessEnv): string[] {
  const path = (env.PATH ?? '').split(delimiter);
  return [env.KUBEBUILDER_ASSETS ?? '', ...path].filter((folder) => folder !== '').map((folder) => resolve(folder));
}

/** The first usable installation of a program. One of another version is skipped, with a line that explains why. */
export async function findInstalled(
  program: Program,
  folders: readonly string[],
  log: Log,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { installed } = program;
  if (!installed) return undefined;
  const seen = new Set<string>();
  for (const folder of folders) {
    const path = join(folder, program.name);
    if (!(await isExecutable(path))) continue;
    // /bin is often a link to /usr/bin, and one line is enough.
    const real = await realpath(path);
    if (seen.has(real)) continue;
    seen.add(real);
    const reason = await whyUnusable(installed, path, signal);
    if (reason === undefined) return path;
    log(`Skipping ${path}: ${reason}.`);
  }
  return undefined;
}

/** Another go.mod, go.sum, platform or build method uses another folder, so cached programs need no check. */
export async function cacheFolder(module: GoModule, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(module.dir, file)));
  const goMod = await readGoMod(module);
  for (const program of module.programs) {
    hash.update(`${program.package} ${program.tags?.join(',') ?? ''} ${ldflags(program, goMod)}\n`);
    for (const source of await sourcesOf(module, program)) hash.update(await readFile(source));
  }
  hash.update(`${process.platform} ${process.arch}`);
  return join(cacheRoot(env), `${module.name}-${hash.digest('hex').slice(0, 16)}`);
}

/** The files of a program in the module itself; go.sum has the digests of all others. */
async function sourcesOf(module: GoModule, program: Program): Promise<string[]> {
  if (!/^\.(\/|$)/.test(program.package)) return [];
  const folder = join(module.dir, program.package);
  return (await readdir(folder))
    .filter((name) => name.endsWith('.go'))
    .sort()
    .map((name) => join(folder, name));
}

/** The folder for builds that all checkouts share. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const xdg = env.XDG_CACHE_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache'), 'windowspool-operator');
}

async function findCached(program: Program, cache: string): Promise<string | undefined> {
  const path = join(cache, program.name);
  return (await isExecutable(path)) ? path : undefined;
}

async function buildMissing(
  module: GoModule,
  missing: readonly Program[],
  cache: string,
  log: Log,
  signal?: AbortSignal,
): Promise<void> {
  await checkGo((await readGoMod(module)).go, module.what, signal);
  await mkdir(cache, { recursive: true });
  const lock = {
    onWait: () => log(`Waiting for another process, which builds ${module.what}.`),
    timeoutMs: lockTimeoutMs,
    signal,
  };
  await withLock(cache, lock, async () => {
    // The previous holder of the lock may have built some of them.
    const cached = await Promise.all(missing.map((program) => findCached(program, cache)));
    const left = missing.filter((_, index) => cached[index] === undefined);
    await buildAll(left, log, (program) => buildProgram(module, program, cache, signal));
  });
}

/** Builds one program after the other (Go uses all cores) and logs the time of each and the remaining time. */
export async function buildAll(
  left: readonly Program[],
  log: Log,
  build: (program: Program) => Promise<void>,
): Promise<void> {
  if (left.length === 0) return;
  const expected = (some: readonly Program[]) => some.reduce((sum, { buildSeconds }) => sum + buildSeconds, 0);
  log(
    `Building ${left.map(({ name }) => name).join(', ')} with Go, once. From an empty build cache this takes about ${minutes(expected(left))} on 2 cores.`,
  );
  const start = performance.now();
  for (const [index, program] of left.entries()) {
    const began = performance.now();
    await build(program);
    const now = performance.now();
    const todo = left.slice(index + 1);
    // The speed of this machine: the time of the builds so far, relative to the expected time.
    const rest = (expected(todo) * (now - start)) / 1000 / expected(left.slice(0, index + 1));
    const next =
      todo.length === 0
        ? 'That was the last one.'
        : `Left: ${todo.map(({ name }) => name).join(', ')}, about ${minutes(rest)}.`;
    log(`Built ${program.name} in ${Math.round((now - began) / 1000)} s (${index + 1} of ${left.length}). ${next}`);
  }
}

function minutes(seconds: number): string {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
