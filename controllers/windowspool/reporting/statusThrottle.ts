/** The shortest time between two status writes that only node events cause. */
const INTERVAL_MS = 1_000;

/** Limits status writes during a storm of node events to one per second and pool; a single change is written at once. */
export class StatusThrottle {
  readonly #writtenAt = new Map<string, number>();

  /** Milliseconds until the pool's status may be written again; 0 means now. Times are epoch milliseconds. */
  wait(pool: string, now: number): number {
    const since = now - (this.#writtenAt.get(pool) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back must not block a pool.
    return since >= 0 && since < INTERVAL_MS ? INTERVAL_MS - since : 0;
  }

  wrote(pool: string, now: number): void {
    this.#writtenAt.set(pool, now);
  }

  forget(pool: string): void {
    this.#writtenAt.delete(pool);
  }
}
