/**
 * The one budget of everything that takes nodes away: no more pools than `--max-pools-updating` lose nodes at the same time. Who has a share
 * of it is in the pools' status, so it outlives the operator.
 */
import type { WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { Pools } from '../ports/pools.ts';
import { joined } from '../util/words.ts';
import { isDisrupted } from './reservation.ts';

export class DisruptionBudget {
  readonly #pools: Pick<Pools, 'list' | 'writeStatus'>;
  readonly #limit: number;
  #last: Promise<void> = Promise.resolve();

  /** @param limit how many pools may lose nodes at a time */
  constructor(pools: Pick<Pools, 'list' | 'writeStatus'>, limit: number) {
    this.#pools = pools;
    this.#limit = limit;
  }

  /**
   * Writes a status that claims a share, if there is one left. The pools are read past every cache, and no other claim of this process comes
   * between the reading and the writing; only one process leads. The trouble `conflict` when others were faster.
   */
  async reserve(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<CallResult<WindowsPool>> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      // The calls of those before have time-outs of their own.
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
      const message = `as many pools as allowed lose nodes: ${joined(holders.sort())}`;
      return {
        ok: false,
        error: { kind: 'conflict', operation: 'claim a disruption', code: 'BudgetSpent', message },
      };
    }
    return this.#pools.writeStatus(pool, status, signal);
  }
}
