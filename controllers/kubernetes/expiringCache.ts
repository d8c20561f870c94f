interface Entry<T> {
  readonly answer: Promise<T>;
  /** Infinity during the call. */
  expiresAt: number;
}

/** Answers by key, until they expire. Callers that ask for a key at the same time share one call. A failure is not cached. */
export class ExpiringCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #size: number;
  readonly #ttlMs: (answer: T) => number;
  readonly #now: () => number;

  /**
   * @param size the oldest entry beyond this number is dropped
   * @param now a clock in milliseconds that never goes back
   */
  constructor(size: number, ttlMs: (answer: T) => number, now: () => number = () => performance.now()) {
    this.#size = size;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** The cached answer, or that of `call`. Rejects as `call` does. */
  async get(key: string, call: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && this.#now() < known.expiresAt) return known.answer;
    const entry: Entry<T> = { answer: call(), expiresAt: Number.POSITIVE_INFINITY };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#shrink();
    try {
      const answer = await entry.answer;
      entry.expiresAt = this.#now() + this.#ttlMs(answer);
      return answer;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  #shrink(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#size) return;
      this.#entries.delete(key);
    }
  }
}
