import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** What is waited for, as the end of "waited 30 s for ...". */
  readonly what: string;
  /** Default: a minute. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Added to the message at the time-out, such as the tail of a log. */
  readonly explain?: () => string | Promise<string>;
}

/** Thrown by {@link waitFor} when the deadline has passed. */
class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Calls `probe` until it returns a value other than undefined or false, and returns that. An error of the probe ends the wait; expected
 * errors must be caught in the probe.
 */
export async function waitFor<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const { what, timeoutMs = 60_000, intervalMs = 50, signal, explain } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() >= deadline) {
      const reason = (await explain?.()) ?? '';
      throw new DeadlineError(`Waited ${Math.round(timeoutMs / 1000)} s for ${what}.${reason && `\n${reason}`}`);
    }
    await sleep(intervalMs, undefined, { signal });
  }
}

/** Resolves or rejects as `promise` does, or rejects with a {@link DeadlineError} at the time-out. */
export async function withDeadline<T>(promise: Promise<T>, what: string, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DeadlineError(`Waited ${Math.round(timeoutMs / 1000)} s for ${what}.`)),
    timeoutMs,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
