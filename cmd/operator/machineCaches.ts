/** The Machines of the objects in machines.ref of pools: each namespace is watched while a pool refers to it, and no other one is. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  healthCheckOf,
  type MachineCollection,
  type MachineKind,
  machineIndexes,
  machineListWatch,
  machineOf,
  machineSetOf,
} from '../../controllers/kubernetes/machines.ts';
import { quietIdentity } from '../../controllers/kubernetes/objects.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { MachineSetReference, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { nodesOfMachines } from '../../controllers/windowspool/membership/machineNodes.ts';
import type { CallError } from '../../controllers/windowspool/ports/callResult.ts';
import type {
  HealthCheck,
  Machine,
  MachineNodes,
  MachineSet,
  MachinesView,
} from '../../controllers/windowspool/ports/machines.ts';
import { machineSetIn } from '../../controllers/windowspool/rules/nodeSource.ts';
import { selects } from '../../controllers/windowspool/util/labelSelector.ts';
import { OptionalCache } from './optionalCache.ts';
import { SharedWatches } from './sharedWatches.ts';

/** Each has up to five watches. A cluster has one or two. */
const MOST_NAMESPACES = 4;
const STARTS = { atOnce: 12, perSecond: 0.2 };

type SetKind = MachineSetReference['kind'];
type Cache<T> = OptionalCache<T, keyof typeof machineIndexes>;

/** The objects of one namespace in one version, with their Machines. */
interface Watched {
  /** The MachineSets are also those of MachineDeployments. OpenShift has no other kind. */
  readonly objects: { readonly MachineSet: Cache<MachineSet> } & Partial<Record<SetKind, Cache<MachineSet>>>;
  readonly machines: Cache<Machine>;
  readonly healthChecks: OptionalCache<HealthCheck>;
}

/** Watches the Machines that pools refer to. If there are too many namespaces, those of the oldest pools. */
export class MachineCaches {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #watches: SharedWatches<MachineSetReference, Watched>;
  readonly #nodes = new Map<string, MachineNodes>();
  /** Pools whose object the operator creates: that of another owner is not theirs. */
  readonly #made = new Set<string>();

  /** @param changed called for each pool whose object or Machines changed */
  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics, changed: (pool: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
    this.#watches = new SharedWatches({
      most: MOST_NAMESPACES,
      starts: STARTS,
      keyOf,
      open: (ref, refs, signal) => this.#watch(ref, refs, signal),
      changed,
    });
  }

  /** Watches the object that the pool refers to now; undefined: the pool was deleted. */
  follow(pool: string, object: Pick<WindowsPool, 'metadata' | 'spec'> | undefined): void {
    const machines = object?.spec.machines;
    const ref = machines && machineSetIn(machines);
    this.#watches.follow(pool, object, ref);
    if (machines?.template) this.#made.add(pool);
    else this.#made.delete(pool);
    if (!ref) this.#nodes.delete(pool);
  }

  /** What the pool's object has, by the last events. */
  of(pool: string): MachinesView {
    const ref = this.#watches.targetOf(pool);
    if (!ref) return { kind: 'unknown' };
    const watched = this.#watches.watchOf(ref);
    if (!watched) return { kind: 'unknown', ...(this.#watches.isFull && { error: tooMany(ref) }) };
    const { objects, machines, healthChecks } = watched;
    const kinds: readonly SetKind[] = ref.kind === 'MachineDeployment' ? [ref.kind, 'MachineSet'] : [ref.kind];
    const [unknown] = [...kinds.map((kind) => objects[kind]), machines].flatMap((cache) => cache?.unknown ?? []);
    if (unknown) return unknown;
    const set = objects[ref.kind]?.store.get(ref.name);
    if (!set) return { kind: 'absent' };
    const sets = setsOf(watched, ref, set);
    const owned = sets.flatMap(({ uid }) => machines.store.byIndex('controller', uid));
    // It may stay empty: not every cluster serves them, and without the permission only less is known.
    const checks = healthChecks.unknown ? [] : healthChecks.store.list();
    const selecting = checks.filter(({ selector }) => owned.some(({ labels }) => selects(selector, labels)));
    const seen = { kind: 'seen', set, machines: owned, sets: sets.length } as const;
    return { ...seen, ...(selecting.length > 0 && { healthChecks: selecting }) };
  }

  /** The nodes of the pool's Machines; undefined while they are not known. */
  nodesOf(pool: string): MachineNodes | undefined {
    const view = this.of(pool);
    if (view.kind === 'unknown') return undefined;
    const isOwn = view.kind === 'seen' && (!this.#made.has(pool) || view.set.createdFor === pool);
    const nodes = nodesOfMachines(isOwn ? view : undefined, this.#nodes.get(pool));
    this.#nodes.set(pool, nodes);
    return nodes;
  }

  /** Resolves when each current collection was read, or its read failed. */
  get synced(): Promise<unknown> {
    const caches = this.#watches.open.flatMap(({ objects, machines }) => [...Object.values(objects), machines]);
    return Promise.all(caches.map((cache) => cache.synced));
  }

  /** Stops all watches. */
  stop(): void {
    this.#watches.stop();
  }

  #watch(
    { apiVersion, namespace }: MachineSetReference,
    refs: ReadonlyMap<string, MachineSetReference>,
    signal: AbortSignal,
  ): Watched {
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
        identity: quietIdentity<T>(),
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
      void cache.run(signal);
      return cache;
    };
    const startSets = (kind: MachineKind) => start(kind, (object) => machineSetOf(kind, object));
    const watched: Watched = {
      objects: {
        MachineSet: startSets('MachineSet'),
        ...(apiVersion.startsWith('cluster.x-k8s.io/') && {
          MachineDeployment: startSets('MachineDeployment'),
          MachinePool: startSets('MachinePool'),
        }),
      },
      machines: start('Machine', machineOf as (object: never) => Machine),
      healthChecks: this.#watchHealthChecks({ apiVersion, kind: 'MachineHealthCheck', namespace }, notify, signal),
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
      identity: quietIdentity<HealthCheck>(),
      changed: notify,
    });
    cache.store.subscribe(() => cache.store.hasSynced && notify());
    void cache.store.synced.then(notify);
    void cache.run(signal);
    return cache;
  }
}

/** What controls the Machines of the pool's object: it does, or its MachineSets. */
function setsOf({ objects }: Watched, { kind }: MachineSetReference, object: MachineSet): readonly MachineSet[] {
  return kind === 'MachineDeployment' ? objects.MachineSet.store.byIndex('controller', object.uid) : [object];
}

/** Whether it is the pool's object, or one of its MachineSets or Machines. */
function concerns(
  { name, uid, controllerUid }: Machine | MachineSet,
  watched: Watched,
  ref: MachineSetReference,
): boolean {
  const object = watched.objects[ref.kind]?.store.get(ref.name);
  if (!object) return name === ref.name;
  return [object, ...setsOf(watched, ref, object)].some((one) => one.uid === uid || one.uid === controllerUid);
}

function tooMany({ namespace }: MachineSetReference): CallError {
  const message = `pools refer to Machines in more than ${MOST_NAMESPACES} namespaces, and ${namespace} is one too many. Use fewer namespaces`;
  return { kind: 'refused', operation: 'watch machines', code: 'TooManyNamespaces', message };
}

function keyOf({ apiVersion, namespace }: MachineSetReference): string {
  return `${apiVersion} ${namespace}`;
}
