/** What a pool has to know of the others, from the cache: kept up to date one pool at a time, so that a look costs no walk over all. */
import type { WindowsPool } from './api.gen.ts';
import { isDisrupted } from './disruption.ts';

/** The other pools, as far as they matter to one. Names are sorted, so that equal fleets read alike. */
export interface FleetView {
  /** Pools that lose nodes now, or that may begin to at any moment. */
  readonly disrupted: readonly string[];
}

/** The pools of the cluster. A pool that looked while another held it back is woken when that ends. */
export class Fleet {
  readonly #disrupted = new Set<string>();
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
    if (after && isDisrupted(after)) this.#disrupted.add(name);
    else if (this.#disrupted.delete(name)) this.#relieve();
  }

  /** The fleet without the pool that asks. It counts as waiting until it says that it does not, so that no end is missed between. */
  seenBy(pool: string): FleetView {
    this.#waiting.add(pool);
    return { disrupted: [...this.#disrupted].filter((name) => name !== pool).sort() };
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
