/** What a pool has to know of the other pools, from the cache. Updated one pool at a time, so that a reconcile does not iterate over all pools. */
import type { WindowsPool } from '../api/api.gen.ts';
import type { OtherPools, ReleaseFailure } from '../model/disruption.ts';
import { canonical } from '../util/hash.ts';
import { isDisrupted } from './reservation.ts';

/** The pools of the cluster. A pool that waits for another one is triggered when that is done. */
export class PoolRegistry {
  readonly #disrupted = new Set<string>();
  readonly #failures = new Map<string, readonly ReleaseFailure[]>();
  readonly #waiting = new Set<string>();
  readonly #failuresOf: (pool: WindowsPool) => readonly ReleaseFailure[];
  #wake: (pool: string) => void = () => undefined;

  /** @param failuresOf the releases that fail verification in a pool */
  constructor(failuresOf: (pool: WindowsPool) => readonly ReleaseFailure[]) {
    this.#failuresOf = failuresOf;
  }

  /** Sets the callback for pools that may stop waiting. */
  onRelease(wake: (pool: string) => void): void {
    this.#wake = wake;
  }

  /** Applies a change of a pool. */
  follow(before: WindowsPool | undefined, after: WindowsPool | undefined): void {
    const name = (after ?? before)?.metadata.name;
    if (name === undefined) return;
    const isDone = this.#followReservation(name, after);
    const isOther = this.#followFailure(name, after);
    if (isDone || isOther) this.#triggerWaiting();
  }

  /** Whether the pool disrupted nodes and no longer does. */
  #followReservation(name: string, pool: WindowsPool | undefined): boolean {
    if (!pool || !isDisrupted(pool)) return this.#disrupted.delete(name);
    this.#disrupted.add(name);
    return false;
  }

  /** Whether the pool had releases that failed, and now has others or none. */
  #followFailure(name: string, pool: WindowsPool | undefined): boolean {
    const known = this.#failures.get(name);
    const failures = pool ? this.#failuresOf(pool) : [];
    if (failures.length > 0) this.#failures.set(name, failures);
    else this.#failures.delete(name);
    return known !== undefined && canonical(known) !== canonical(failures);
  }

  /** The pools without the one that asks. The pool counts as waiting until it calls `stopWaiting`, so that it misses no change in between. */
  seenBy(pool: string): OtherPools {
    this.#waiting.add(pool);
    return {
      disrupted: [...this.#disrupted].filter((name) => name !== pool).sort(),
      failures: [...this.#failures]
        .filter(([name]) => name !== pool)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, failures]) => failures),
    };
  }

  /** The pool waits for no other pool, or is deleted. */
  stopWaiting(pool: string): void {
    this.#waiting.delete(pool);
  }

  #triggerWaiting(): void {
    const triggered = [...this.#waiting];
    this.#waiting.clear();
    for (const pool of triggered) this.#wake(pool);
  }
}
