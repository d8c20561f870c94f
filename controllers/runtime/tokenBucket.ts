/** A token bucket like golang.org/x/time/rate: reservations are granted in order and never rejected. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #longestWaitMs: number;
  #tokens: number;
  #at = 0;

  /** @param longestWaitMs of a reservation: those that would wait longer are granted at that time, whatever the rate */
  constructor(perSecond: number, burst: number, longestWaitMs = Number.POSITIVE_INFINITY) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#longestWaitMs = longestWaitMs;
    this.#tokens = burst;
  }

  /** Reserves a token. Returns the milliseconds to wait for it. `now` is monotonic, in milliseconds. */
  reserve(now: number): number {
    this.#refill(now);
    this.#tokens = Math.max(this.#tokens - 1, (-this.#longestWaitMs / 1000) * this.#perSecond);
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }

  /** The milliseconds until a token is available, a whole number: a timer that is too short by a rounding error would start another one. Takes none. */
  waitMs(now: number): number {
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000);
  }

  /** Takes a token if one is available. */
  tryTake(now: number): boolean {
    this.#refill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Whether the bucket is equal to a new one. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= this.#burst;
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
  }
}
