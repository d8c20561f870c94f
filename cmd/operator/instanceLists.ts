/** The ConfigMaps in existingNodes.instancesConfigMap of pools: each is watched while a pool refers to it, and no other ConfigMap is. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { type ConfigMap, configMapIdentity, configMapListWatch } from '../../controllers/kubernetes/configMaps.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { InstancesConfigMap, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { hostsIn } from '../../controllers/windowspool/membership/windowsInstances.ts';
import type { Hosts, InstanceList } from '../../controllers/windowspool/ports/nodes.ts';
import { HostLookups, type HostResolver } from './hostLookups.ts';
import { OptionalCache } from './optionalCache.ts';
import { SharedWatches } from './sharedWatches.ts';

/** A cluster has one list or two. */
const MOST_LISTS = 8;
/** How long `synced` waits for the first look-ups. */
const LOOKUPS_MS = 5_000;
const STARTS = { atOnce: 20, perSecond: 1 };

/** A ConfigMap, and what look-ups of its entries found. */
interface Watched {
  readonly cache: OptionalCache<ConfigMap>;
  readonly lookups: HostLookups;
}

/** Watches the ConfigMaps that pools refer to. If there are too many, those of the oldest pools. */
export class InstanceLists {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #resolver: HostResolver | undefined;
  readonly #watches: SharedWatches<InstancesConfigMap, Watched>;

  /**
   * @param changed called for each pool whose list changed
   * @param resolver for tests. Default: the servers of this machine
   */
  constructor(
    client: KubernetesClient,
    log: Logger,
    metrics: EngineMetrics,
    changed: (pool: string) => void,
    resolver?: HostResolver,
  ) {
    this.#client = client;
    this.#resolver = resolver;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
    this.#watches = new SharedWatches({
      most: MOST_LISTS,
      starts: STARTS,
      keyOf,
      open: (list, lists, signal) => this.#watch(list, lists, signal),
      changed,
    });
  }

  /** Watches the list that the pool refers to now; undefined: the pool was deleted. */
  follow(name: string, pool: WindowsPool | undefined): void {
    this.#watches.follow(name, pool, pool?.spec.existingNodes?.instancesConfigMap);
  }

  /** The last known list of a pool. */
  of(pool: WindowsPool): InstanceList {
    const desired = pool.spec.existingNodes?.instancesConfigMap;
    if (!desired) return { kind: 'unknown' };
    const watched = this.#watches.watchOf(desired);
    if (!watched) return this.#watches.isFull ? tooMany(desired) : { kind: 'unknown' };
    const { cache, lookups } = watched;
    const [found] = cache.store.list();
    return cache.unknown ?? (found ? { kind: 'seen', data: found.data, hosts: lookups.hosts } : { kind: 'absent' });
  }

  /** What look-ups of the entries of a list found; undefined if the list is not watched. */
  hostsOf(list: InstancesConfigMap): Hosts | undefined {
    return this.#watches.watchOf(list)?.lookups.hosts;
  }

  /** Resolves when each current list was read and its entries were looked up, or that failed. */
  get synced(): Promise<unknown> {
    const read = async ({ cache, lookups }: Watched) => {
      await cache.synced;
      const [found] = cache.store.list();
      // Without a DNS server, look-ups take long.
      if (found && hostsIn(found.data).length > 0)
        await Promise.race([lookups.synced, sleep(LOOKUPS_MS, undefined, { ref: false })]);
    };
    return Promise.all(this.#watches.open.map(read));
  }

  /** Stops all watches. */
  stop(): void {
    this.#watches.stop();
  }

  #watch(list: InstancesConfigMap, lists: ReadonlyMap<string, InstancesConfigMap>, signal: AbortSignal): Watched {
    const notify = () => {
      for (const pool of lists.keys()) this.#changed(pool);
    };
    const cache = new OptionalCache<ConfigMap>({
      name: 'configmaps',
      clock: realClock,
      log: this.#log,
      hooks: this.#metrics.reflector('configmaps'),
      source: (onResult) => configMapListWatch(this.#client, list, onResult),
      identity: configMapIdentity,
      changed: notify,
    });
    const lookups = new HostLookups(notify, this.#resolver);
    const followHosts = () => lookups.follow(cache.store.list().flatMap(({ data }) => hostsIn(data)));
    cache.store.subscribe(() => {
      followHosts();
      notify();
    });
    // A ConfigMap that does not exist causes no change event, but is known not to exist. Neither promise ever rejects.
    void cache.store.synced.then(notify);
    void cache.run(signal);
    void lookups.run(signal);
    return { cache, lookups };
  }
}

function tooMany(list: InstancesConfigMap): InstanceList {
  const message = `pools name more than ${MOST_LISTS} ConfigMaps with lists of hosts, and ${keyOf(list)} is one too many. Use one list for several pools`;
  return { kind: 'unknown', error: { kind: 'refused', operation: 'watch ConfigMaps', code: 'TooManyLists', message } };
}

function keyOf({ namespace, name }: InstancesConfigMap): string {
  return `${namespace}/${name}`;
}
