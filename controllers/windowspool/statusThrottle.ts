/** The least time between two status writes of a pool that only nodes asked for. */
const INTERVAL_MS = 1_000;

/** A storm of node events costs at most one status write a second and pool; a single change is written at once. */
export class StatusThrottle {
  readonly #writtenAt = new Map<string, number>();

  /** Milliseconds until the pool's status may be written again; 0 means now. Times are epoch milliseconds. */
  wait(pool: string, now: number): number {
    const since = now - (this.#writtenAt.get(pool) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back must not silence a pool.
    return since >= 0 && since < INTERVAL_MS ? INTERVAL_MS - since : 0;
  }

  wrote(pool: string, now: number): void {
    this.#writtenAt.set(pool, now);
  }

  forget(pool: string): void {
    this.#writtenAt.delete(pool);
  }
}
