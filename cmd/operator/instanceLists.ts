/** The ConfigMaps in existingNodes.instancesConfigMap of pools: each is watched while a pool refers to it, and no other ConfigMap is. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { type ConfigMap, configMapIdentity, configMapListWatch } from '../../controllers/kubernetes/configMaps.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { TokenBucket } from '../../controllers/runtime/tokenBucket.ts';
import type { InstancesConfigMap, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { InstanceList } from '../../controllers/windowspool/ports/nodes.ts';
import { OptionalCache } from './optionalCache.ts';

/** Each is a watch, which occupies a connection to the API server: with too many, none is left for the Lease. A cluster has one list or two. */
const MOST_LISTS = 8;
/** How many watches may start at once, and then each second: a pool can name another list all the time. */
const STARTS = { atOnce: 20, perSecond: 1 };

interface Watched {
  readonly cache: OptionalCache<ConfigMap>;
  readonly pools: Set<string>;
  readonly ending: AbortController;
}

interface Named {
  readonly list: InstancesConfigMap;
  /** The oldest pool has the lowest one. */
  readonly rank: string;
}

/** Watches the ConfigMaps that pools refer to. If there are too many, those of the oldest pools. */
export class InstanceLists {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #watched = new Map<string, Watched>();
  /** What each pool names. */
  readonly #named = new Map<string, Named>();
  readonly #starts = new TokenBucket(STARTS.perSecond, STARTS.atOnce);
  #retry: NodeJS.Timeout | undefined;

  /** @param changed called for each pool whose list changed */
  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics, changed: (pool: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
  }

  /** Watches the list that the pool refers to now; undefined: the pool was deleted. */
  follow(name: string, pool: WindowsPool | undefined): void {
    const list = pool?.spec.existingNodes?.instancesConfigMap;
    if (pool && list) this.#named.set(name, { list, rank: `${pool.metadata.creationTimestamp} ${name}` });
    else this.#named.delete(name);
    this.#assign(name);
  }

  /** Ends and starts watches, so that those of the oldest pools are open. Reports the pools, other than the one that has changed, whose list is another one now. */
  #assign(changed: string): void {
    const byAge = [...this.#named].sort(([, a], [, b]) => (a.rank < b.rank ? -1 : 1));
    const wanted = new Map<string, { readonly list: InstancesConfigMap; readonly pools: string[] }>();
    for (const [pool, { list }] of byAge) {
      const key = keyOf(list);
      const known = wanted.get(key);
      if (known) known.pools.push(pool);
      else if (wanted.size < MOST_LISTS) wanted.set(key, { list, pools: [pool] });
    }
    const moved: string[] = [];
    for (const [key, { pools, ending }] of this.#watched) {
      const stay = wanted.get(key)?.pools ?? [];
      for (const pool of [...pools]) if (!stay.includes(pool) && pools.delete(pool)) moved.push(pool);
      if (pools.size > 0) continue;
      ending.abort();
      this.#watched.delete(key);
    }
    for (const [key, { list, pools }] of wanted) {
      const watched = this.#watched.get(key) ?? (this.#mayStart() ? this.#watch(key, list) : undefined);
      for (const pool of pools) {
        if (!watched || watched.pools.has(pool)) continue;
        watched.pools.add(pool);
        moved.push(pool);
      }
    }
    for (const pool of new Set(moved)) if (pool !== changed && this.#named.has(pool)) this.#changed(pool);
  }

  /** Whether a watch may start now. If not, that is tried again. */
  #mayStart(): boolean {
    const now = realClock.monotonic();
    if (this.#starts.tryTake(now)) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#assign('');
    }, this.#starts.waitMs(now));
    return false;
  }

  /** The last known list of a pool. */
  of(pool: WindowsPool): InstanceList {
    const desired = pool.spec.existingNodes?.instancesConfigMap;
    const watched = desired && this.#watched.get(keyOf(desired));
    if (!desired) return { kind: 'unknown' };
    if (!watched) return this.#watched.size < MOST_LISTS ? { kind: 'unknown' } : tooMany(desired);
    const { cache } = watched;
    const [found] = cache.store.list();
    return cache.unknown ?? (found ? { kind: 'seen', data: found.data } : { kind: 'absent' });
  }

  /** Resolves when each current list was read, or its read failed. */
  get synced(): Promise<unknown> {
    return Promise.all([...this.#watched.values()].map(({ cache }) => cache.synced));
  }

  /** Stops all watches. */
  stop(): void {
    clearTimeout(this.#retry);
    for (const { ending } of this.#watched.values()) ending.abort();
  }

  #watch(key: string, desired: InstancesConfigMap): Watched {
    const pools = new Set<string>();
    const notify = () => {
      for (const pool of pools) this.#changed(pool);
    };
    const cache = new OptionalCache<ConfigMap>({
      name: 'configmaps',
      clock: realClock,
      log: this.#log,
      hooks: this.#metrics.reflector('configmaps'),
      source: (onResult) => configMapListWatch(this.#client, desired, onResult),
      identity: configMapIdentity,
      changed: notify,
    });
    const watched = { cache, pools, ending: new AbortController() };
    this.#watched.set(key, watched);
    cache.store.subscribe(notify);
    // A ConfigMap that does not exist causes no change event, but is known not to exist. Neither promise ever rejects.
    void cache.store.synced.then(notify);
    void cache.run(watched.ending.signal);
    return watched;
  }
}

function tooMany(list: InstancesConfigMap): InstanceList {
  const message = `pools name more than ${MOST_LISTS} ConfigMaps with lists of hosts, and ${keyOf(list)} is one too many. Use one list for several pools`;
  return { kind: 'unknown', error: { kind: 'refused', operation: 'watch ConfigMaps', code: 'TooManyLists', message } };
}

function keyOf({ namespace, name }: InstancesConfigMap): string {
  return `${namespace}/${name}`;
}
