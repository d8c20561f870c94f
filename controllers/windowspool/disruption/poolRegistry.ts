/** What a pool has to know of the other pools, from the cache. Updated one pool at a time, so that a reconcile does not iterate over all pools. */
import type { WindowsPool } from '../api/api.gen.ts';
import type { OtherPools, ReleaseFailure } from '../model/disruption.ts';
import { canonical } from '../util/hash.ts';
import { isDisrupted } from './reservation.ts';

/**
 * How long a pool that has released its share of the budget lets the pools go first that waited for it then, in milliseconds. Without that, a pool whose
 * kubelets request one replacement after the other would take each turn: the others have to read their groups first.
 */
const YIELDING_MS = 60_000;

/** The pools of the cluster. A pool that waits for another one is triggered when that is done. */
export class PoolRegistry {
  readonly #disrupted = new Set<string>();
  /** The pools that go before a pool, which has had a turn, and until when: known from the first time on that the pool asks. */
  readonly #yielding = new Map<string, { readonly to: Set<string>; until?: number }>();
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
    if (!pool) {
      this.#yielding.delete(name);
      this.needNoTurn(name);
    }
    if (!pool || !isDisrupted(pool)) {
      const isDone = this.#disrupted.delete(name);
      const to = new Set(this.#waiting);
      to.delete(name);
      if (isDone && pool && to.size > 0) this.#yielding.set(name, { to });
      return isDone;
    }
    this.#disrupted.add(name);
    this.needNoTurn(name);
    return false;
  }

  /** The pool has its turn, or needs none now: the others need not let it go first. */
  needNoTurn(name: string): void {
    for (const [pool, { to }] of this.#yielding) {
      if (!to.delete(name) || to.size > 0) continue;
      this.#yielding.delete(pool);
      this.#wake(pool);
    }
  }

  /** The pools that go before this one, and until when. */
  #before(pool: string, now: number): { readonly to: Iterable<string>; readonly until?: number } {
    const yielding = this.#yielding.get(pool);
    if (!yielding) return { to: [] };
    yielding.until ??= now + YIELDING_MS;
    if (now < yielding.until) return yielding;
    this.#yielding.delete(pool);
    return { to: [] };
  }

  /** Whether the pool had releases that failed, and now has others or none. */
  #followFailure(name: string, pool: WindowsPool | undefined): boolean {
    const known = this.#failures.get(name);
    const failures = pool ? this.#failuresOf(pool) : [];
    if (failures.length > 0) this.#failures.set(name, failures);
    else this.#failures.delete(name);
    return known !== undefined && canonical(known) !== canonical(failures);
  }

  /**
   * The pools without the one that asks, at this time (epoch milliseconds). The pool counts as waiting until it calls `stopWaiting`, so that it misses no change in
   * between.
   */
  seenBy(pool: string, now: number): OtherPools {
    this.#waiting.add(pool);
    const { to, until } = this.#before(pool, now);
    const others = new Set([...this.#disrupted, ...to]);
    others.delete(pool);
    return {
      disrupted: [...others].sort(),
      ...(until !== undefined && { until }),
      failures: [...this.#failures]
        .filter(([name]) => name !== pool)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, failures]) => failures),
    };
  }

  /** The pool waits for no other pool, or is deleted. */
  stopWaiting(pool: string): void {
    this.#waiting.delete(pool);
    this.needNoTurn(pool);
  }

  #triggerWaiting(): void {
    const triggered = [...this.#waiting];
    this.#waiting.clear();
    for (const pool of triggered) this.#wake(pool);
  }
}
