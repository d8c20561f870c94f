/** What a pool has to know of the others, from the cache: kept up to date one pool at a time, so that a look costs no walk over all. */
import type { WindowsPool } from '../api.gen.ts';
import type { FleetView, ReleaseFailure } from '../model/disruption.ts';
import { releaseFailureOf } from '../providers/eks/upgrades/releaseFailures.ts';
import { canonical } from '../util/hash.ts';
import { isDisrupted } from './reservation.ts';

/** The pools of the cluster. A pool that looked while another held it back is woken when that ends. */
export class Fleet {
  readonly #disrupted = new Set<string>();
  readonly #failures = new Map<string, ReleaseFailure>();
  readonly #waiting = new Set<string>();
  #wake: (pool: string) => void = () => undefined;

  /** Tells whom to call when a pool that waits may go on. */
  onRelief(wake: (pool: string) => void): void {
    this.#wake = wake;
  }

  /** Takes a pool's change in. */
  follow(before: WindowsPool | undefined, after: WindowsPool | undefined): void {
    const name = (after ?? before)?.metadata.name;
    if (name === undefined) return;
    const isDone = this.#followReservation(name, after);
    const isOther = this.#followFailure(name, after);
    if (isDone || isOther) this.#relieve();
  }

  /** Whether the pool lost nodes and no longer does. */
  #followReservation(name: string, pool: WindowsPool | undefined): boolean {
    if (!pool || !isDisrupted(pool)) return this.#disrupted.delete(name);
    this.#disrupted.add(name);
    return false;
  }

  /** Whether the pool had a release that failed, and has another or none. */
  #followFailure(name: string, pool: WindowsPool | undefined): boolean {
    const known = this.#failures.get(name);
    const failure = pool && releaseFailureOf(pool);
    if (failure) this.#failures.set(name, failure);
    else this.#failures.delete(name);
    return known !== undefined && canonical(known) !== canonical(failure);
  }

  /** The fleet without the pool that asks. It counts as waiting until it says that it does not, so that no end is missed between. */
  seenBy(pool: string): FleetView {
    this.#waiting.add(pool);
    return {
      disrupted: [...this.#disrupted].filter((name) => name !== pool).sort(),
      failures: [...this.#failures.values()]
        .filter((failure) => failure.pool !== pool)
        .sort((a, b) => (a.pool < b.pool ? -1 : 1)),
    };
  }

  /** The pool waits for no other, or is gone. */
  rest(pool: string): void {
    this.#waiting.delete(pool);
  }

  #relieve(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const pool of woken) this.#wake(pool);
  }
}
