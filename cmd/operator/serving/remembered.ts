/** Answers that are good for a while: each question is asked once at a time, and again when its answer is too old. */

interface Entry<T> {
  readonly answer: Promise<T>;
  /** Infinity while it is being asked. */
  until: number;
}

/** At most `size` answers are kept: the oldest goes first. What fails is not kept. */
export class Remembered<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #size: number;
  readonly #keptMs: (answer: T) => number;
  readonly #now: () => number;

  /**
   * @param keptMs how long an answer is good for, in milliseconds
   * @param now a clock in milliseconds that never goes back
   */
  constructor(size: number, keptMs: (answer: T) => number, now: () => number) {
    this.#size = size;
    this.#keptMs = keptMs;
    this.#now = now;
  }

  /** The answer that is known, or what `ask` gives. Rejects as `ask` does. */
  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && this.#now() < known.until) return known.answer;
    const entry: Entry<T> = { answer: ask(), until: Number.POSITIVE_INFINITY };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#shrink();
    try {
      const answer = await entry.answer;
      entry.until = this.#now() + this.#keptMs(answer);
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
