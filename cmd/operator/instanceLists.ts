/** The ConfigMaps in existingNodes.instancesConfigMap of pools: each is watched while a pool refers to it, and no other ConfigMap is. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { type ConfigMap, configMapIdentity, configMapListWatch } from '../../controllers/kubernetes/configMaps.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { InstancesConfigMap, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { CallError } from '../../controllers/windowspool/ports/callResult.ts';
import type { InstanceList } from '../../controllers/windowspool/ports/nodes.ts';

interface Watched {
  readonly store: Store<ConfigMap>;
  readonly pools: Set<string>;
  readonly ending: AbortController;
  /** Resolves when the list was read, or the read failed. */
  readonly answered: PromiseWithResolvers<void>;
  error: CallError | undefined;
}

/** Watches the ConfigMaps that pools refer to. */
export class InstanceLists {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #watched = new Map<string, Watched>();

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
    if (!desired || key === undefined) return;
    const watched = this.#watched.get(key) ?? this.#watch(key, desired);
    watched.pools.add(name);
  }

  /** The last known list of a pool. */
  of(pool: WindowsPool): InstanceList {
    const desired = pool.spec.existingNodes?.instancesConfigMap;
    const watched = desired && this.#watched.get(keyOf(desired));
    const isKnown = watched?.store.hasSynced && watched.error?.kind !== 'denied';
    if (!isKnown) return { kind: 'unknown', ...(watched?.error && { error: watched.error }) };
    const [found] = watched.store.list();
    return found ? { kind: 'seen', data: found.data } : { kind: 'absent' };
  }

  /** Resolves when each current list was read, or its read failed. */
  get synced(): Promise<unknown> {
    return Promise.all([...this.#watched.values()].map(({ answered }) => answered.promise));
  }

  /** Stops all watches. */
  stop(): void {
    for (const { ending } of this.#watched.values()) ending.abort();
  }

  #watch(key: string, desired: InstancesConfigMap): Watched {
    const store = new Store<ConfigMap>({ identity: configMapIdentity, log: this.#log });
    const watched: Watched = {
      store,
      pools: new Set(),
      ending: new AbortController(),
      answered: Promise.withResolvers(),
      error: undefined,
    };
    const notify = () => {
      if (store.hasSynced || watched.error) watched.answered.resolve();
      for (const pool of watched.pools) this.#changed(pool);
    };
    // A list that was read stays valid while the server is unavailable, but not when the permission is lost: its changes are unknown then.
    const onResult = (error?: CallError) => {
      const isPassing = store.hasSynced ? error && error.kind !== 'denied' : !error;
      if (watched.error?.message === error?.message || isPassing) return;
      watched.error = error;
      notify();
    };
    const reflector = new Reflector({
      name: 'configmaps',
      clock: realClock,
      log: this.#log,
      hooks: this.#metrics.reflector('configmaps'),
      source: configMapListWatch(this.#client, desired, onResult),
      identity: configMapIdentity,
      store,
    });
    this.#watched.set(key, watched);
    store.subscribe(notify);
    // A ConfigMap that does not exist causes no change event, but is known not to exist. Neither promise ever rejects.
    void store.synced.then(() => {
      watched.error = undefined;
      notify();
    });
    void reflector.run(watched.ending.signal);
    return watched;
  }
}

function keyOf({ namespace, name }: InstancesConfigMap): string {
  return `${namespace}/${name}`;
}
