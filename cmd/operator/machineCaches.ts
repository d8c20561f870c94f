/** The Machines of the objects in machines.ref of pools: each namespace is watched while a pool refers to it, and no other one is. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  healthCheckOf,
  type MachineCollection,
  type MachineKind,
  machineIdentity,
  machineIndexes,
  machineListWatch,
  machineOf,
  machineSetOf,
} from '../../controllers/kubernetes/machines.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { TokenBucket } from '../../controllers/runtime/tokenBucket.ts';
import type { MachineSetReference, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { isSameNodes, nodesOfMachines } from '../../controllers/windowspool/membership/machineNodes.ts';
import type { CallError } from '../../controllers/windowspool/ports/callResult.ts';
import type {
  HealthCheck,
  Machine,
  MachineNodes,
  MachineSet,
  MachinesView,
} from '../../controllers/windowspool/ports/machines.ts';
import { selects } from '../../controllers/windowspool/util/labelSelector.ts';
import { OptionalCache } from './optionalCache.ts';

/** Each has up to four watches, which occupy connections to the API server: with too many, none is left for the Lease. A cluster has one or two. */
const MOST_NAMESPACES = 4;
/** How many of them may start at once, and then each second: a pool can be created for another namespace all the time. */
const STARTS = { atOnce: 12, perSecond: 0.2 };

type Cache<T> = OptionalCache<T, keyof typeof machineIndexes>;

/** The objects of one kind in one namespace, with their Machines. */
interface Watched {
  /** Absent where pools refer to MachineSets. */
  readonly deployments: Cache<MachineSet> | undefined;
  readonly sets: Cache<MachineSet>;
  readonly machines: Cache<Machine>;
  readonly healthChecks: OptionalCache<HealthCheck>;
  readonly refs: Map<string, MachineSetReference>;
  readonly ending: AbortController;
}

interface Named {
  readonly ref: MachineSetReference;
  /** The oldest pool has the lowest one. */
  readonly rank: string;
}

/** Watches the Machines that pools refer to. If there are too many namespaces, those of the oldest pools. */
export class MachineCaches {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #watched = new Map<string, Watched>();
  /** What each pool refers to. */
  readonly #named = new Map<string, Named>();
  readonly #nodes = new Map<string, MachineNodes>();
  readonly #starts = new TokenBucket(STARTS.perSecond, STARTS.atOnce);
  #retry: NodeJS.Timeout | undefined;

  /** @param changed called for each pool whose object or Machines changed */
  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics, changed: (pool: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
  }

  /** Watches the object that the pool refers to now; undefined: the pool was deleted. */
  follow(pool: string, object: Pick<WindowsPool, 'metadata' | 'spec'> | undefined): void {
    const ref = object?.spec.machines?.ref;
    const rank = `${object?.metadata.creationTimestamp} ${pool}`;
    const before = this.#named.get(pool);
    if (!ref && !before) return;
    if (ref && before?.rank === rank && before.ref.name === ref.name && keyOf(before.ref) === keyOf(ref)) return;
    if (ref) this.#named.set(pool, { ref, rank });
    else {
      this.#named.delete(pool);
      this.#nodes.delete(pool);
    }
    this.#assign(pool);
  }

  /** Ends and starts watches, so that those of the oldest pools are open. Reports the pools, other than the one that has changed, that get or lose one. */
  #assign(changed: string): void {
    const byAge = [...this.#named].sort(([, a], [, b]) => (a.rank < b.rank ? -1 : 1));
    const wanted = new Map<string, Map<string, MachineSetReference>>();
    for (const [pool, { ref }] of byAge) {
      const key = keyOf(ref);
      const known = wanted.get(key);
      if (known) known.set(pool, ref);
      else if (wanted.size < MOST_NAMESPACES) wanted.set(key, new Map([[pool, ref]]));
    }
    const moved: string[] = [];
    for (const [key, { refs, ending }] of this.#watched) {
      const stay = wanted.get(key);
      for (const pool of [...refs.keys()]) if (!stay?.has(pool) && refs.delete(pool)) moved.push(pool);
      if (refs.size > 0) continue;
      ending.abort();
      this.#watched.delete(key);
    }
    for (const [key, refs] of wanted) {
      const [first] = refs.values();
      const watched = this.#watched.get(key) ?? (first && this.#mayStart() ? this.#watch(first) : undefined);
      if (!watched) continue;
      this.#watched.set(key, watched);
      for (const [pool, ref] of refs) {
        if (!watched.refs.has(pool)) moved.push(pool);
        watched.refs.set(pool, ref);
      }
    }
    for (const pool of new Set(moved)) if (pool !== changed && this.#named.has(pool)) this.#changed(pool);
  }

  /** Whether watches may start now. If not, that is tried again. */
  #mayStart(): boolean {
    const now = realClock.monotonic();
    if (this.#starts.tryTake(now)) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#assign('');
    }, this.#starts.waitMs(now));
    return false;
  }

  /** What the pool's object has, by the last events. */
  of(pool: string): MachinesView {
    const { ref } = this.#named.get(pool) ?? {};
    const watched = ref && this.#watched.get(keyOf(ref));
    if (!ref) return { kind: 'unknown' };
    if (!watched) return { kind: 'unknown', ...(this.#watched.size >= MOST_NAMESPACES && { error: tooMany(ref) }) };
    const { deployments, sets, machines, healthChecks } = watched;
    const unknown = deployments?.unknown ?? sets.unknown ?? machines.unknown;
    if (unknown) return unknown;
    const objects = ref.kind === 'MachineSet' ? sets : deployments;
    const set = objects?.store.get(ref.name);
    if (!set) return { kind: 'absent' };
    const owned = setsOf(watched, ref, set).flatMap(({ uid }) => machines.store.byIndex('controller', uid));
    // It may stay empty: not every cluster serves them, and without the permission only less is known.
    const checks = healthChecks.unknown ? [] : healthChecks.store.list();
    const selecting = checks.filter(({ selector }) => owned.some(({ labels }) => selects(selector, labels)));
    return { kind: 'seen', set, machines: owned, ...(selecting.length > 0 && { healthChecks: selecting }) };
  }

  /** The nodes of the pool's Machines; undefined while they are not known. */
  nodesOf(pool: string): MachineNodes | undefined {
    const view = this.of(pool);
    if (view.kind === 'unknown') return undefined;
    const now = nodesOfMachines(view.kind === 'seen' ? view.machines : []);
    const before = this.#nodes.get(pool);
    const nodes = before && isSameNodes(before, now) ? before : now;
    this.#nodes.set(pool, nodes);
    return nodes;
  }

  /** Resolves when each current collection was read, or its read failed. */
  get synced(): Promise<unknown> {
    const caches = [...this.#watched.values()].flatMap(({ deployments, sets, machines }) => [
      deployments,
      sets,
      machines,
    ]);
    return Promise.all(caches.map((cache) => cache?.synced));
  }

  /** Stops all watches. */
  stop(): void {
    clearTimeout(this.#retry);
    for (const { ending } of this.#watched.values()) ending.abort();
  }

  #watch({ apiVersion, kind: ofRef, namespace }: MachineSetReference): Watched {
    const refs = new Map<string, MachineSetReference>();
    const ending = new AbortController();
    const notify = () => {
      for (const pool of refs.keys()) this.#changed(pool);
    };
    // Each pool that is triggered walks over its Machines.
    const notifyOf = (objects: readonly (Machine | MachineSet)[]) => {
      for (const [pool, ref] of refs) if (objects.some((object) => concerns(object, watched, ref))) this.#changed(pool);
    };
    const start = <T extends Machine | MachineSet>(kind: MachineKind, recordOf: (object: never) => T): Cache<T> => {
      const cache = new OptionalCache<T, keyof typeof machineIndexes>({
        name: kind,
        clock: realClock,
        log: this.#log,
        hooks: this.#metrics.reflector(kind),
        source: (onResult) =>
          machineListWatch<T>(
            this.#client,
            { apiVersion, kind, namespace } satisfies MachineCollection,
            recordOf as never,
            onResult,
          ),
        identity: machineIdentity<T>(),
        indexes: machineIndexes,
        changed: notify,
      });
      cache.store.subscribe(({ before, after }) => {
        // The end of the first list is reported once.
        const objects = [before, after].filter((object) => object !== undefined);
        if (cache.store.hasSynced) notifyOf(objects);
      });
      // An object that does not exist causes no change event, but is known not to exist. Neither promise ever rejects.
      void cache.store.synced.then(notify);
      void cache.run(ending.signal);
      return cache;
    };
    const watched: Watched = {
      deployments:
        ofRef === 'MachineDeployment'
          ? start('MachineDeployment', (object) => machineSetOf('MachineDeployment', object))
          : undefined,
      sets: start('MachineSet', (object) => machineSetOf('MachineSet', object)),
      machines: start('Machine', machineOf as (object: never) => Machine),
      healthChecks: this.#watchHealthChecks(
        { apiVersion, kind: 'MachineHealthCheck', namespace },
        notify,
        ending.signal,
      ),
      refs,
      ending,
    };
    return watched;
  }

  #watchHealthChecks(of: MachineCollection, notify: () => void, signal: AbortSignal): OptionalCache<HealthCheck> {
    const cache = new OptionalCache<HealthCheck>({
      name: of.kind,
      clock: realClock,
      log: this.#log,
      hooks: this.#metrics.reflector(of.kind),
      source: (onResult) => machineListWatch<HealthCheck>(this.#client, of, healthCheckOf, onResult),
      identity: machineIdentity<HealthCheck>(),
      changed: notify,
    });
    cache.store.subscribe(() => cache.store.hasSynced && notify());
    void cache.store.synced.then(notify);
    void cache.run(signal);
    return cache;
  }
}

/** The MachineSets of the pool's object. */
function setsOf({ sets }: Watched, ref: MachineSetReference, object: MachineSet): readonly MachineSet[] {
  return ref.kind === 'MachineSet' ? [object] : sets.store.byIndex('controller', object.uid);
}

/** Whether it is the pool's object, or one of its MachineSets or Machines. */
function concerns(
  { name, uid, controllerUid }: Machine | MachineSet,
  watched: Watched,
  ref: MachineSetReference,
): boolean {
  const object = (watched.deployments ?? watched.sets).store.get(ref.name);
  if (!object) return name === ref.name;
  return [object, ...setsOf(watched, ref, object)].some((one) => one.uid === uid || one.uid === controllerUid);
}

function tooMany({ namespace }: MachineSetReference): CallError {
  const message = `pools refer to Machines in more than ${MOST_NAMESPACES} namespaces, and ${namespace} is one too many. Use fewer namespaces`;
  return { kind: 'refused', operation: 'watch machines', code: 'TooManyNamespaces', message };
}

function keyOf({ apiVersion, kind, namespace }: MachineSetReference): string {
  return `${apiVersion} ${kind} ${namespace}`;
}
