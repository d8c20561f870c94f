import type { Clock } from './ports.ts';

/** client-go's delays between attempts at a list or a watch (tools/cache/reflector.go). */
const INITIAL_MS = 800;
const MOST_MS = 30_000;
/** Without a failure for this long, the delay is reset. */
const RESET_AFTER_MS = 120_000;

/** Exponential backoff with jitter, so that clients of a server that recovers do not all return at once: 0.8 s becomes 0.8 to 1.6 s. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #lastFailure = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
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
    const now = this.#clock.monotonic();
    if (now - this.#lastFailure > RESET_AFTER_MS) this.#failures = 0;
    const delay = Math.min(MOST_MS, INITIAL_MS * 2 ** this.#failures) * (1 + this.#random());
    this.#failures += 1;
    this.#lastFailure = now + delay;
    return delay;
  }
}
