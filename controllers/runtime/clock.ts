import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** Node's timers fire immediately for a longer delay. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system clock. Waits end after 24 days at most. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    signal.throwIfAborted();
    try {
      await sleep(within(ms), undefined, { signal });
    } catch (error) {
      // Node rejects with its own AbortError, which hides the reason.
      throw signal.aborted ? signal.reason : error;
    }
  },
  after: (ms, fn) => {
    const timer = setTimeout(fn, within(ms));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

function within(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
}

/** Returns a signal that aborts with a TimeoutError after `ms`, or with the parent's reason. Dispose it to remove its timer and listener. */
export function deadline(
  clock: Clock,
  ms: number,
  parent: AbortSignal,
  what: string,
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const timer = clock.after(ms, () => {
    controller.abort(new DOMException(`${what} took longer than ${ms / 1000} s`, 'TimeoutError'));
  });
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      parent.removeEventListener('abort', onAbort);
    },
  };
}
