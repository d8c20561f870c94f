/**
 * The budget of everything that disrupts nodes: at most `--max-pools-updating` pools at the same time. The shares are in the status of the pools, so
 * they survive a restart of the operator.
 */
import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { Pools } from '../ports/pools.ts';
import { joined } from '../util/words.ts';
import { isDisrupted } from './reservation.ts';

/** Hands out the shares of the budget. */
export class DisruptionBudget {
  readonly #pools: Pick<Pools, 'list' | 'writeStatus'>;
  readonly #limit: number;
  #last: Promise<void> = Promise.resolve();

  /** @param limit how many pools may disrupt nodes at a time */
  constructor(pools: Pick<Pools, 'list' | 'writeStatus'>, limit: number) {
    this.#pools = pools;
    this.#limit = limit;
  }

  /**
   * Writes a status that reserves a share, if one is left. Pools are read uncached, and reservations of this process run one at a time; only one
   * process is the leader. Error `conflict` if no share is left.
   */
  async reserve(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<CallResult<WindowsPool>> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      // The calls before this one have their own timeouts.
      await before;
      signal.throwIfAborted();
      return await this.#reserveAlone(pool, status, signal);
    } finally {
      resolve();
    }
  }

  async #reserveAlone(
    pool: WindowsPool,
    status: WindowsPoolStatus,
    signal: AbortSignal,
  ): Promise<CallResult<WindowsPool>> {
    const all = await this.#pools.list(signal);
    if (!all.ok) return all;
    const holders = all.value.filter(isDisrupted).map(({ metadata }) => metadata.name);
    if (!holders.includes(pool.metadata.name) && holders.length >= this.#limit) {
      const message = `--max-pools-updating (${this.#limit}) is reached by WindowsPools ${joined(holders.sort())}`;
      return {
        ok: false,
        error: { kind: 'conflict', operation: 'reserve a disruption', code: 'BudgetSpent', message },
      };
    }
    return this.#pools.writeStatus(pool, status, signal);
  }
}
