/**
 * A small world in memory behind the domain's ports: an API server, and the local AWS behind the real adapters. Every call of a port of the
 * API server and every request to AWS is counted, and can be made to fail or to crash the operator.
 *
 *   FakeCalls  counts, fails, crashes  <--  FakeCluster  the API server  <--  CloudWorld  AWS  <--  FakeWorld  an operator in it
 */

import type { CounterSample, GaugeSample } from '../api/metricCatalogue.ts';
import { DisruptionBudget } from '../disruption/disruptionBudget.ts';
import { PoolRegistry } from '../disruption/poolRegistry.ts';
import { ReadCache } from '../observation/readCache.ts';
import { releaseFailuresIn } from '../providers/providers.ts';
import type { Deps } from '../reconcile.ts';
import { StatusThrottle } from '../reporting/statusThrottle.ts';
import { CloudWorld } from './cloudWorld.ts';
import { settings } from './fixtures.ts';
import { seriesOf } from './shownMetrics.ts';

export { Crash } from './fakeCalls.ts';

export class FakeWorld extends CloudWorld {
  readonly corrections: Readonly<Record<string, number>>[] = [];
  readonly #gauges = new Map<string, readonly GaugeSample[]>();
  /** Counters, of all pools together. */
  readonly counts = new Map<string, number>();
  /** The times of pools by `pool metric`, in seconds. */
  readonly stamps = new Map<string, number>();
  /** The pools that are woken when another one releases its share of the budget. */
  readonly waiting = new Set<string>();

  /** The gauges of each pool: `windowspool_nodes{state="verified"}` -> 3. */
  get metrics(): ReadonlyMap<string, Readonly<Record<string, number>>> {
    return new Map([...this.#gauges].map(([pool, samples]) => [pool, Object.fromEntries(samples.map(seriesOf))]));
  }

  /** Starts a new process with empty memory. */
  start(): Deps {
    this.forgetNodes();
    this.#gauges.clear();
    this.stamps.clear();
    const pools = this.poolsPort();
    return {
      ...this.clusterPorts(),
      ...this.awsPorts(),
      readCache: new ReadCache(),
      statusThrottle: new StatusThrottle(),
      pools,
      budget: new DisruptionBudget(pools, settings.maxPoolsUpdating),
      poolRegistry: {
        seenBy: (name) => {
          this.waiting.add(name);
          const poolRegistry = new PoolRegistry(releaseFailuresIn);
          for (const pool of this.pools.values()) poolRegistry.follow(undefined, pool);
          return poolRegistry.seenBy(name, this.now);
        },
        stopWaiting: (name) => void this.waiting.delete(name),
        needNoTurn: () => undefined,
      },
      settings,
      now: () => this.now,
      serverVersion: () => 'v1.36.3',
      metrics: {
        show: (pool, samples) => void this.#gauges.set(pool, samples),
        stamp: (pool, { metric, value }) => void this.stamps.set(`${pool} ${metric}`, value),
        stampFirst: (pool, { metric, value }) => {
          const key = `${pool} ${metric}`;
          this.stamps.set(key, this.stamps.get(key) ?? value);
        },
        add: (_pool, samples) => this.#count(samples),
        drop: (pool) => {
          this.#gauges.delete(pool);
          for (const key of this.stamps.keys()) if (key.startsWith(`${pool} `)) this.stamps.delete(key);
        },
      },
    };
  }

  #count(samples: readonly CounterSample[]): void {
    const parts = samples.flatMap(({ labels, value }) => ('part' in labels ? [[labels.part, value]] : []));
    if (parts.length > 0) this.corrections.push(Object.fromEntries(parts));
    for (const [series, value] of samples.map(seriesOf))
      this.counts.set(series, (this.counts.get(series) ?? 0) + value);
  }
}
