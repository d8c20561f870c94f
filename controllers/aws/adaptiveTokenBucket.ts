/** How often something may happen: `perSecond` in the long run, `burst` at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The slowest rate, in calls a second, as in the SDK's adaptive retry mode: `minFillRate` of `DefaultRateLimiter` in @smithy/util-retry. */
const SLOWEST = 0.5;

/** What is left of the rate after a throttled call: the multiplicative decrease of AIMD, as in TCP. */
const DECREASE = 0.5;

/** How long a rate takes to recover from zero: the additive increase of AIMD. EC2 fills an empty bucket of 100 at 20 a second within 5 s. */
const RECOVERY_SECONDS = 20;

interface Slowdown {
  /** Monotonic, in milliseconds. */
  readonly at: number;
  /** Calls a second at that time. */
  readonly perSecond: number;
}

/**
 * A token bucket that learns its rate from throttled calls. A throttled call empties the bucket and halves its rate; then the rate grows evenly,
 * and the bucket holds no more than one second's calls until the rate is its own again. Times are monotonic, in milliseconds.
 */
export class AdaptiveTokenBucket {
  readonly #full: Rate;
  #tokens: number;
  #at = 0;
  #slowdown: Slowdown | undefined;

  constructor(full: Rate) {
    this.#full = full;
    this.#tokens = full.burst;
  }

  /** Takes a token, in advance if need be, and returns how many milliseconds after `now` it is valid. The first to ask is the first to get one. */
  reserve(now: number): number {
    this.#refill(now);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.perSecond(now)) * 1000;
  }

  /** Takes tokens for calls that were made without a reservation, or returns the token of one that was not made: -1. */
  charge(tokens: number, now: number): void {
    this.#refill(now);
    this.#tokens -= tokens;
  }

  /** A call that was sent at `sentAt` was throttled. One that was sent before the last slowdown says nothing about the present rate. */
  slowDown(now: number, sentAt: number): void {
    if (this.#slowdown && sentAt < this.#slowdown.at) return;
    this.#refill(now);
    this.#slowdown = { at: now, perSecond: Math.max(SLOWEST, this.perSecond(now) * DECREASE) };
    this.#tokens = Math.min(this.#tokens, 0);
  }

  /** The rate at a time. */
  perSecond(now: number): number {
    const { perSecond } = this.#full;
    if (!this.#slowdown) return perSecond;
    const recovered = ((now - this.#slowdown.at) / 1000) * (perSecond / RECOVERY_SECONDS);
    return Math.min(perSecond, this.#slowdown.perSecond + recovered);
  }

  #refill(now: number): void {
    // The rate grows evenly between the two times.
    const perSecond = (this.perSecond(this.#at) + this.perSecond(now)) / 2;
    const isSlow = this.perSecond(now) < this.#full.perSecond;
    const most = isSlow ? Math.max(1, this.perSecond(now)) : this.#full.burst;
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
  }
}
