/** The ConfigMaps in existingNodes.instancesConfigMap of pools: each is watched while a pool refers to it, and no other ConfigMap is. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { type ConfigMap, configMapIdentity, configMapListWatch } from '../../controllers/kubernetes/configMaps.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { InstancesConfigMap, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { InstanceList } from '../../controllers/windowspool/ports/nodes.ts';
import { OptionalCache } from './optionalCache.ts';

/** Each is a watch, which occupies a connection to the API server: with too many, none is left for the Lease. A cluster has one list or two. */
const MOST_LISTS = 8;

interface Watched {
  readonly cache: OptionalCache<ConfigMap>;
  readonly pools: Set<string>;
  readonly ending: AbortController;
}

/** Watches the ConfigMaps that pools refer to. */
export class InstanceLists {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #watched = new Map<string, Watched>();
  /** The pools whose list is not watched, because there are too many others. */
  readonly #waiting = new Map<string, InstancesConfigMap>();

  /** @param changed called for each pool whose list changed */
  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics, changed: (pool: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
  }

  /** Watches the list that the pool refers to now; undefined: the pool was deleted. */
  follow(name: string, pool: WindowsPool | undefined): void {
    const desired = pool?.spec.existingNodes?.instancesConfigMap;
    const key = desired && keyOf(desired);
    for (const [other, { pools, ending }] of this.#watched) {
      if (other === key || !pools.delete(name) || pools.size > 0) continue;
      ending.abort();
      this.#watched.delete(other);
    }
    this.#waiting.delete(name);
    if (desired) this.#waiting.set(name, desired);
    for (const [other, its] of this.#waiting) {
      const watched =
        this.#watched.get(keyOf(its)) ?? (this.#watched.size < MOST_LISTS && this.#watch(keyOf(its), its));
      if (!watched) continue;
      this.#waiting.delete(other);
      watched.pools.add(other);
      if (other !== name) this.#changed(other);
    }
  }

  /** The last known list of a pool. */
  of(pool: WindowsPool): InstanceList {
    const desired = pool.spec.existingNodes?.instancesConfigMap;
    const watched = desired && this.#watched.get(keyOf(desired));
    if (!watched) return desired && this.#waiting.has(pool.metadata.name) ? tooMany(desired) : { kind: 'unknown' };
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
