/** The operator's caches: its view of the cluster, kept up to date by watches. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import type { NodeIndex } from '../../controllers/kubernetes/nodes.ts';
import {
  API_VERSION,
  type CompletePool,
  KIND,
  poolIdentity,
  poolListWatch,
} from '../../controllers/kubernetes/pools.ts';
import { runtimeClassIdentity, runtimeClassListWatch } from '../../controllers/kubernetes/runtimeClasses.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Controller } from '../../controllers/runtime/controller.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { EventPublisher, Logger, ObjectReference, Unreadable } from '../../controllers/runtime/ports.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { PoolRegistry } from '../../controllers/windowspool/disruption/poolRegistry.ts';
import { NodeMembership } from '../../controllers/windowspool/membership/nodeMembership.ts';
import { needsImages } from '../../controllers/windowspool/nodePods/preparation.ts';
import { PoolNodesCache } from '../../controllers/windowspool/nodes/poolNodesCache.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { RuntimeClass } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { releaseFailuresIn } from '../../controllers/windowspool/providers/providers.ts';
import { groupsKnownOf, poolIndexes, Watches } from '../../controllers/windowspool/watches.ts';
import { InstanceLists } from './instanceLists.ts';
import { KarpenterCaches } from './karpenterCaches.ts';
import { MachineCaches } from './machineCaches.ts';
import { NodeCache } from './nodeCache.ts';
import { NodePodCache } from './nodePodCache.ts';

/**
 * The API server was restored from a backup. Only some collections show that, and everything in memory may be from a time that has not been, so the process
 * must start again. Source: https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/#restoring-an-etcd-cluster
 */
class ServerRestored extends Error {
  constructor(collection: string) {
    super(
      `the API server has an earlier state of ${collection} than before, as after etcd was restored from a backup: the operator must start again, to read everything`,
    );
  }
}

/** Pools, nodes and RuntimeClasses of the cluster, the operator's pods on nodes, and the verification results of the nodes. Changes trigger pools. */
export class Caches {
  readonly pools: Store<WindowsPool, keyof typeof poolIndexes>;
  readonly nodeCache: NodeCache;
  readonly nodes: Store<NodeRecord, NodeIndex>;
  readonly runtimeClasses: Store<RuntimeClass>;
  readonly poolNodesCache: PoolNodesCache;
  readonly poolRegistry = new PoolRegistry(releaseFailuresIn);
  readonly nodeMembership: NodeMembership;
  readonly lists: InstanceLists;
  readonly machineSets: MachineCaches;
  readonly nodePools: KarpenterCaches;
  readonly nodePods: NodePodCache;
  readonly #watches: Watches;
  #controller: Controller | undefined;
  #events: EventPublisher | undefined;
  readonly #reflectors: readonly { run(signal: AbortSignal): Promise<void> }[];
  readonly #rewound = new AbortController();

  /**
   * @param machinesClient of the cluster that has the objects in machines.ref
   * @param nodePodNamespace the namespace of the operator's pods on nodes
   */
  constructor(
    client: KubernetesClient,
    machinesClient: KubernetesClient,
    nodePodNamespace: string,
    completePool: CompletePool,
    log: Logger,
    metrics: EngineMetrics,
  ) {
    const common = (name: string, kind: Pick<ObjectReference, 'apiVersion' | 'kind'>) => {
      const hooks = metrics.reflector(name);
      const unreadable = (object: Unreadable): void => {
        hooks.unreadable?.(object);
        this.#publishUnreadable(kind, object);
      };
      const rewound = () => this.#rewound.abort(new ServerRestored(name));
      return { name, clock: realClock, log, hooks: { ...hooks, unreadable, rewound } };
    };
    this.pools = new Store({ identity: poolIdentity, indexes: poolIndexes, log });
    this.nodeCache = new NodeCache(client, common('nodes', { apiVersion: 'v1', kind: 'Node' }));
    this.nodes = this.nodeCache.store;
    this.poolNodesCache = new PoolNodesCache(
      (group) => this.nodes.byIndex('nodeGroup', group),
      () => client.now(),
      (pool, { uid }) => this.nodePods.on(pool, uid),
    );
    this.nodeMembership = new NodeMembership({
      nodes: () => this.nodes.list(),
      poolOfGroup: (group) =>
        this.pools.byIndex('nodeGroup', group).find((pool) => groupsKnownOf(pool).includes(group))?.metadata.name,
      instances: this.poolNodesCache,
      wake: (pool) => this.#controller?.enqueue(pool),
      now: () => client.now(),
      podsOn: (pool, { uid }) => this.nodePods.on(pool, uid),
    });
    this.lists = new InstanceLists(client, log, metrics, (name) => this.#watches.selected(name));
    this.machineSets = new MachineCaches(machinesClient, log, metrics, (name) => this.#watches.selected(name));
    this.nodePools = new KarpenterCaches(client, log, metrics, (name) => this.#watches.selected(name));
    this.runtimeClasses = new Store({ identity: runtimeClassIdentity, log });
    this.#watches = new Watches(this);
    this.pools.subscribe(({ after }) => {
      if (after && needsImages(after.spec.verification)) this.nodeCache.needImages();
    });
    this.pools.subscribe(({ key, ...change }) => this.#watches.pool(key, change));
    this.nodes.subscribe((change) => this.#watches.node(change));
    this.runtimeClasses.subscribe((change) => this.#watches.runtimeClass(change));
    this.nodePods = new NodePodCache(client, nodePodNamespace, common('pods', { apiVersion: 'v1', kind: 'Pod' }), () =>
      this.#watches.nodePodsListed(),
    );
    this.nodePods.store.subscribe((change) => this.#watches.nodePod(change));
    this.#reflectors = [
      this.nodePods,
      new Reflector({
        ...common('windowspools', { apiVersion: API_VERSION, kind: KIND }),
        source: poolListWatch(client, completePool),
        identity: poolIdentity,
        store: this.pools,
      }),
      { run: (signal) => this.nodeCache.run(signal, this.pools.synced) },
      new Reflector({
        ...common('runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' }),
        source: runtimeClassListWatch(client),
        identity: runtimeClassIdentity,
        store: this.runtimeClasses,
      }),
    ];
  }

  /** Aborted with ServerRestored when a collection is in an earlier state than before. */
  get rewound(): AbortSignal {
    return this.#rewound.signal;
  }

  /** The stores that must be synced before anything is decided. */
  get stores() {
    return [this.pools, this.nodes, this.runtimeClasses, this.nodePods];
  }

  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>[] {
    for (const each of [this.lists, this.machineSets, this.nodePools])
      signal.addEventListener('abort', () => each.stop(), { once: true });
    return this.#reflectors.map((reflector) => reflector.run(signal));
  }

  /** Publishes events from now on: about objects that cannot be read. */
  publishTo(events: EventPublisher): void {
    this.#events = events;
  }

  /** Without its UID, which may be what cannot be read. The event names what the log and the metric only count. */
  #publishUnreadable(kind: Pick<ObjectReference, 'apiVersion' | 'kind'>, { name, message }: Unreadable): void {
    if (name === '') return;
    const note = `${kind.kind} ${name} is ignored, because it cannot be read: ${message}`;
    this.#events?.publish(
      { ...kind, name, uid: name },
      { type: 'Warning', reason: 'ObjectUnreadable', action: 'Read', note },
    );
  }

  /** Starts to trigger the pools that changes concern; `gone` is called for a deleted pool before other pools are triggered by the deletion. */
  wake(controller: Controller, gone: (pool: string) => void): void {
    this.#controller = controller;
    this.#watches.begin((pool) => controller.enqueue(pool), gone);
  }
}
