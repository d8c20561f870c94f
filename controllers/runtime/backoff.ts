import type { Clock } from './ports.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Up to this share of a delay is added at random: 1 makes 0.8 s anything from 0.8 to 1.6 s. */
  readonly jitter: number;
  /** Without a failure for this long, it begins again with the initial delay. */
  readonly resetAfterMs: number;
}

/** client-go's delays between attempts at a list or a watch (tools/cache/reflector.go). */
export const REFLECTOR_BACKOFF: BackoffOptions = {
  initialMs: 800,
  maxMs: 30_000,
  factor: 2,
  jitter: 1,
  resetAfterMs: 120_000,
};

/** Delays that grow with each failure, with jitter, so that many clients of a server that came back do not return at once. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #options: BackoffOptions;
  #failures = 0;
  #lastFailure = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number, options: BackoffOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
  }

  /** How many failures came close after each other. */
  get failures(): number {
    return this.#failures;
  }

  /** What was tried works: the next failure is a first one. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure and says how long to wait, in milliseconds. */
  next(): number {
    const { initialMs, maxMs, factor, jitter, resetAfterMs } = this.#options;
    const now = this.#clock.monotonic();
    if (now - this.#lastFailure > resetAfterMs) this.#failures = 0;
    const delay = Math.min(maxMs, initialMs * factor ** this.#failures) * (1 + jitter * this.#random());
    this.#failures += 1;
    this.#lastFailure = now + delay;
    return delay;
  }
}
