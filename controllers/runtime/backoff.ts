import type { Clock } from './ports.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Up to this share of a delay is added at random: with 1, 0.8 s becomes 0.8 to 1.6 s. */
  readonly jitter: number;
  /** Without a failure for this long, the delay is reset. */
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

/** Exponential backoff with jitter, so that clients of a server that recovers do not all return at once. */
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

  /** Failures since the last reset. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure. Returns the delay in milliseconds. */
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
