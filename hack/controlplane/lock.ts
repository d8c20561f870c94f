import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isAlive } from './alive.ts';
import { waitFor } from './wait.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
}

export interface LockOptions {
  /** Called once when the lock is held by another process. */
  readonly onWait: (holder: string) => void;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The holder touches its lock at this interval; one that was not touched for {@link staleMs} has no holder. */
const touchMs = 5_000;
const staleMs = 60_000;

/**
 * Runs `work` while no other process runs its work under the same lock file. A lock whose process is gone is taken over.
 * When two take over the same lock at the same instant, both may run: the work must be harmless then, only slower.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  let isReported = false;
  await waitFor(
    async () => {
      if (await tryLock(path)) return true;
      if (await isStale(path)) await remove(path);
      else if (!isReported) {
        isReported = true;
        options.onWait(await describe(path));
      }
      return false;
    },
    {
      what: `${path}, which another process holds`,
      timeoutMs: options.timeoutMs,
      intervalMs: 200,
      signal: options.signal,
    },
  );
  const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), touchMs);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder));
    await file.close();
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > staleMs) return true;
    const holder = parseHolder(await readFile(path, 'utf8'));
    return holder !== undefined && holder.host === hostname() && !isAlive(holder.pid);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Renames it first, so that only one of two processes removes a stale lock. */
async function remove(path: string): Promise<void> {
  const aside = `${path}.${process.pid}.stale`;
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

async function describe(path: string): Promise<string> {
  const holder = await readFile(path, 'utf8').then(parseHolder, () => undefined);
  return holder ? `process ${holder.pid} on ${holder.host}` : 'another process';
}

/** Undefined for a lock whose holder has not written its name yet. */
function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, host } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
