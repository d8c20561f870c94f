import type { Clock } from '../ports.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/**
 * A clock for tests: time stands still until `advance`. Timers fire in the order of their time, then of their making, and what
 * they set off (promises, further timers) runs before time goes on.
 */
export class SimulatedClock implements Clock {
  #time = 0;
  #made = 0;
  readonly #start: number;
  readonly #timers = new Set<Timer>();

  /** `start` is the wall-clock time at the beginning, epoch milliseconds. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  after(ms: number, fn: () => void): Disposable {
    const timer: Timer = { at: this.#time + Math.max(ms, 0), order: this.#made++, fn };
    this.#timers.add(timer);
    return {
      [Symbol.dispose]: () => {
        this.#timers.delete(timer);
      },
    };
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        timer[Symbol.dispose]();
        reject(signal.reason);
      };
      const timer = this.after(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Lets `ms` pass. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.fn();
      await settle();
    }
    this.#time = end;
  }

  /** Lets time pass, timer by timer, until the condition holds. Throws after `limitMs` of simulated time. */
  async until(condition: () => boolean, what: string, limitMs = 3_600_000): Promise<void> {
    const end = this.#time + limitMs;
    await settle();
    while (!condition()) {
      const next = this.#next(end);
      if (!next) throw new Error(`${what}: not after ${limitMs / 1000} simulated seconds`);
      await this.advance(next.at - this.#time);
    }
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer;
    }
    return first;
  }
}

/** Lets every promise that is already resolved run its course. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
