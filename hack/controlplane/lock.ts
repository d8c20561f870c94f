import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withDeadline } from './wait.ts';

export interface LockOptions {
  /** Called once when another process holds the lock. */
  readonly onWait: () => void;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Longer than flock needs to start. */
const WAITING_MS = 1_000;

/** Runs `work` while no other process runs its work with the same folder. flock(1) releases the lock when this process exits in any way. */
export async function withLock<T>(folder: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const { onWait, timeoutMs, signal } = options;
  const holder = spawn('flock', [folder, 'sh', '-c', 'echo locked; exec cat'], {
    // Ctrl-C in a terminal must not release the lock before this process does.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = setTimeout(onWait, WAITING_MS);
  const exit = once(holder, 'exit');
  try {
    const locked = once(holder.stdout, 'data', { signal });
    await withDeadline(Promise.race([locked, exit]), `the lock of ${folder}, which another process holds`, timeoutMs);
    if (holder.exitCode !== null || holder.signalCode !== null)
      throw new Error(`flock ${folder} exited with status ${holder.exitCode ?? holder.signalCode}.`);
    clearTimeout(waiting);
    return await work();
  } finally {
    clearTimeout(waiting);
    holder.stdin.end();
    holder.kill();
    await exit.catch(() => undefined);
  }
}
