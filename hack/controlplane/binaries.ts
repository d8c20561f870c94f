import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { buildProgram, checkGo, ldflags, moduleDir, readGoMod } from './build.ts';
import { withLock } from './lock.ts';
import { type Binaries, type BinaryName, type Program, programs, whyUnusable } from './versions.ts';

export type { Binaries } from './versions.ts';

export type Log = (line: string) => void;

/** Longer than any build takes, even on one slow core. */
const lockTimeoutMs = 60 * 60_000;

/**
 * Finds the programs of a control plane: each in $KUBEBUILDER_ASSETS, else on PATH, else in the cache folder, else builds it
 * there with Go. `log` gets one line for each program that is built or passed over. Rejects with what to install when Go is
 * needed and missing, and with Go's own output when a build fails.
 */
export async function ensureBinaries(log: Log, signal?: AbortSignal): Promise<Binaries> {
  const found = new Map<BinaryName, string>();
  const cache = await cacheFolder();
  const folders = installFolders(process.env);
  const find = async (program: Program) => {
    const path = (await findInstalled(program, folders, log, signal)) ?? (await findCached(program, cache));
    if (path) found.set(program.name, path);
  };
  await Promise.all(programs.map(find));
  const missing = programs.filter(({ name }) => !found.has(name));
  if (missing.length > 0) {
    await buildMissing(missing, cache, log, signal);
    for (const { name } of missing) found.set(name, join(cache, name));
  }
  return Object.fromEntries(found) as unknown as Binaries;
}

/** Folders to look in, first $KUBEBUILDER_ASSETS, then those of PATH. Relative ones are taken from the current folder. */
export function installFolders(env: NodeJS.ProcessEnv): string[] {
  const path = (env.PATH ?? '').split(delimiter);
  return [env.KUBEBUILDER_ASSETS ?? '', ...path].filter((folder) => folder !== '').map((folder) => resolve(folder));
}

/** The first usable installation of a program. One of another version is passed over, with a line that says why. */
export async function findInstalled(
  program: Program,
  folders: readonly string[],
  log: Log,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const seen = new Set<string>();
  for (const folder of folders) {
    const path = join(folder, program.name);
    if (!(await isExecutable(path))) continue;
    // /bin is often a link to /usr/bin, and one complaint is enough.
    const real = await realpath(path);
    if (seen.has(real)) continue;
    seen.add(real);
    const reason = await whyUnusable(program, path, signal);
    if (reason === undefined) return path;
    log(`${path} is passed over: ${reason}.`);
  }
  return undefined;
}

/** Another go.mod, go.sum, platform or way to build is another folder, so what lies there never needs a check. */
export async function cacheFolder(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleDir, file)));
  hash.update(ldflags((await readGoMod()).kubernetes)).update(`${process.platform} ${process.arch}`);
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache');
  return join(base, 'windowspool-operator', `controlplane-${hash.digest('hex').slice(0, 16)}`);
}

async function findCached(program: Program, cache: string): Promise<string | undefined> {
  const path = join(cache, program.name);
  return (await isExecutable(path)) ? path : undefined;
}

async function buildMissing(missing: readonly Program[], cache: string, log: Log, signal?: AbortSignal): Promise<void> {
  const { go, kubernetes } = await readGoMod();
  await checkGo(go, signal);
  await mkdir(cache, { recursive: true });
  const lock = {
    onWait: (holder: string) => log(`Waiting for ${holder}, which builds the local Kubernetes.`),
    timeoutMs: lockTimeoutMs,
    signal,
  };
  await withLock(join(cache, 'lock'), lock, async () => {
    // Whoever held the lock before may have built some or all of them.
    const cached = await Promise.all(missing.map((program) => findCached(program, cache)));
    const left = missing.filter((_, index) => cached[index] === undefined);
    await buildAll(left, log, (program) => buildProgram(program, cache, kubernetes, signal));
  });
}

/** Builds one program after the other (Go uses all cores by itself) and tells how long each took and what is left. */
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
    // What the builds so far took, against what they were expected to take, tells how fast this machine is.
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
