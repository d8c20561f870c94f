import type { Clock } from '../ports.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/**
 * A clock for tests. Time passes only in `advance`. Timers fire in order of their time, then of their creation, and the promises and timers that
 * they cause run before time continues.
 */
export class SimulatedClock implements Clock {
  #time = 0;
  #made = 0;
  #jumped = 0;
  readonly #start: number;
  readonly #passed: () => void;
  readonly #timers = new Set<Timer>();

  /**
   * @param start wall-clock time in epoch milliseconds
   * @param passed called whenever time has passed, before the timers of that time fire
   */
  constructor(start: number = Date.UTC(2026, 0, 1), passed: () => void = () => undefined) {
    this.#start = start;
    this.#passed = passed;
  }

  now(): number {
    return this.#start + this.#time + this.#jumped;
  }

  /** Sets the wall clock forward or back. Forward, it is also what a suspended virtual machine observes when it resumes. */
  jump(ms: number): void {
    this.#jumped += ms;
  }

  monotonic(): number {
    return this.#time;
  }

  /** The number of pending timers. */
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

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepBy(this, ms, signal);
  }

  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#pass(next.at);
      next.fn();
      await settle();
    }
    this.#pass(end);
  }

  #pass(to: number): void {
    if (to <= this.#time) return;
    this.#time = to;
    this.#passed();
  }

  /** Advances from timer to timer until the condition holds. Throws after `limitMs` of simulated time. */
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

/** Runs the callbacks of all resolved promises. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The `sleep` of a clock that has timers. */
export async function sleepBy(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
