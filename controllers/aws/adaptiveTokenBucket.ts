/** A token bucket's refill rate and capacity. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The slowest rate, in calls a second, as in the SDK's adaptive retry mode: `minFillRate` of `DefaultRateLimiter` in @smithy/util-retry. */
const SLOWEST = 0.5;

/** The share of the rate that is left after a throttled call: the multiplicative decrease of AIMD, as in TCP. */
const DECREASE = 0.5;

/** How long a rate takes to recover from zero: the additive increase of AIMD. EC2 fills an empty bucket of 100 at 20 a second within 5 s. */
const RECOVERY_SECONDS = 20;

interface Slowdown {
  /** Monotonic, in milliseconds. */
  readonly at: number;
  /** Calls per second at that time. */
  readonly perSecond: number;
}

/**
 * A token bucket that adapts to throttling. A throttled call empties the bucket and halves its rate. Then the rate recovers linearly; until it is
 * back to normal, the bucket holds the calls of at most one second. Times are monotonic, in milliseconds.
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

  /** Reserves a token, first come, first served. Returns the milliseconds to wait for it. */
  reserve(now: number): number {
    this.#refill(now);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.perSecond(now)) * 1000;
  }

  /** Takes tokens for calls that were made without a reservation; -1 returns the token of a call that was not made. */
  charge(tokens: number, now: number): void {
    this.#refill(now);
    this.#tokens -= tokens;
  }

  /** A call that was sent at `sentAt` was throttled. Ignored for calls before the last slowdown: they say nothing about the current rate. */
  slowDown(now: number, sentAt: number): void {
    if (this.#slowdown && sentAt < this.#slowdown.at) return;
    this.#refill(now);
    this.#slowdown = { at: now, perSecond: Math.max(SLOWEST, this.perSecond(now) * DECREASE) };
    this.#tokens = Math.min(this.#tokens, 0);
  }

  perSecond(now: number): number {
    const { perSecond } = this.#full;
    if (!this.#slowdown) return perSecond;
    const recovered = ((now - this.#slowdown.at) / 1000) * (perSecond / RECOVERY_SECONDS);
    return Math.min(perSecond, this.#slowdown.perSecond + recovered);
  }

  #refill(now: number): void {
    // The rate grows linearly between the two times.
    const perSecond = (this.perSecond(this.#at) + this.perSecond(now)) / 2;
    const isSlow = this.perSecond(now) < this.#full.perSecond;
    const most = isSlow ? Math.max(1, this.perSecond(now)) : this.#full.burst;
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
  }
}
