/** The operator's caches: what it knows of the cluster, kept up to date by watches. */
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { NODE_SELECTOR, nodeIdentity, nodeIndexes, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import { runtimeClassIdentity, runtimeClassListWatch } from '../../controllers/kubernetes/runtimeClasses.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Controller } from '../../controllers/runtime/controller.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { Fleet } from '../../controllers/windowspool/disruption/fleet.ts';
import { nodeGroupsOf, PoolNodesCache } from '../../controllers/windowspool/nodes/poolNodesCache.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { RuntimeClass } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { nodeGroupNameOf } from '../../controllers/windowspool/providers/eks/nodeGroup.ts';
import { NodeMembership } from '../../controllers/windowspool/providers/existing/nodeMembership.ts';
import { poolChangeMatters, poolIndexes } from '../../controllers/windowspool/watches.ts';
import { InstanceLists } from './instanceLists.ts';

/** Pools, nodes and RuntimeClasses of the cluster, and the verdicts on the nodes; their changes wake pools. */
export class Caches {
  readonly pools: Store<WindowsPool, keyof typeof poolIndexes>;
  readonly nodes: Store<NodeRecord, keyof typeof nodeIndexes>;
  readonly runtimeClasses: Store<RuntimeClass>;
  readonly poolNodesCache: PoolNodesCache;
  readonly fleet = new Fleet();
  readonly nodeMembership: NodeMembership;
  readonly lists: InstanceLists;
  #controller: Controller | undefined;
  readonly #reflectors: readonly { run(signal: AbortSignal): Promise<void> }[];

  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics) {
    this.pools = new Store({ identity: poolIdentity, indexes: poolIndexes, log });
    this.pools.subscribe(({ before, after }) => this.fleet.follow(before, after));
    this.nodes = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log });
    this.poolNodesCache = new PoolNodesCache(
      (group) => this.nodes.byIndex('nodeGroup', group),
      () => Date.now(),
    );
    this.nodeMembership = new NodeMembership({
      nodes: () => this.nodes.list(),
      poolOfGroup: (group) => this.pools.byIndex('nodeGroup', group).find(isGroupKnown)?.metadata.name,
      wake: (pool) => this.#controller?.enqueue(pool),
      now: () => Date.now(),
    });
    this.lists = new InstanceLists(client, log, metrics, (name) => {
      this.#declare(name);
      // Also where no node comes or goes: status tells of the list itself.
      this.#controller?.enqueue(name);
    });
    this.#followNodeMembership();
    this.runtimeClasses = new Store({ identity: runtimeClassIdentity, log });
    const common = (name: string) => ({ name, clock: realClock, log, hooks: metrics.reflector(name) });
    this.#reflectors = [
      new Reflector({
        ...common('windowspools'),
        source: poolListWatch(client),
        identity: poolIdentity,
        store: this.pools,
      }),
      new Reflector({
        ...common('nodes'),
        source: nodeListWatch(client, NODE_SELECTOR),
        identity: nodeIdentity,
        store: this.nodes,
      }),
      new Reflector({
        ...common('runtimeclasses'),
        source: runtimeClassListWatch(client),
        identity: runtimeClassIdentity,
        store: this.runtimeClasses,
      }),
    ];
  }

  /** What must be synced before anything is decided. */
  get stores() {
    return [this.pools, this.nodes, this.runtimeClasses];
  }

  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>[] {
    signal.addEventListener('abort', () => this.lists.stop(), { once: true });
    return this.#reflectors.map((reflector) => reflector.run(signal));
  }

  /** The nodes of pools of existing nodes. Before anybody is woken: what a pool wants decides about the nodes of others. */
  #followNodeMembership(): void {
    this.pools.subscribe(({ key, before, after }) => {
      this.lists.follow(key, after);
      this.#declare(key);
      const groups = [before, after].flatMap((pool) => (pool && isGroupKnown(pool) ? [nodeGroupNameOf(pool)] : []));
      if (groups.length === 1 || groups[0] !== groups[1])
        for (const group of groups) this.nodeMembership.reconsider(this.nodes.byIndex('nodeGroup', group));
    });
    this.nodes.subscribe(({ before, after }) => this.nodeMembership.follow(before, after));
  }

  /** What a pool wants, now that it or its list has changed. */
  #declare(name: string): void {
    const pool = this.pools.get(name);
    this.nodeMembership.declare(name, pool, pool && this.lists.of(pool));
  }

  /** Tells the controller which pools a change concerns; `gone` is told of a pool's end before others are woken by it. */
  wake(controller: Controller, gone: (pool: string) => void): void {
    this.fleet.onRelief((pool) => controller.enqueue(pool));
    this.#controller = controller;
    this.pools.subscribe(({ key, before, after }) => {
      if (poolChangeMatters(before, after)) controller.enqueue(key);
      if (!before || after) return;
      gone(key);
      // Its node group may be free now for a pool that waits for the name.
      for (const group of poolIndexes.nodeGroup(before)) this.#wakeBy('nodeGroup', group, controller);
    });
    this.nodes.subscribe(({ before, after }) => {
      this.poolNodesCache.follow(before, after);
      for (const group of nodeGroupsOf(before, after)) this.#wakeBy('nodeGroup', group, controller);
    });
    this.runtimeClasses.subscribe(({ key }) => this.#wakeBy('runtimeClass', key, controller));
  }

  #wakeBy(index: keyof typeof poolIndexes, value: string, controller: Controller): void {
    for (const { metadata } of this.pools.byIndex(index, value)) controller.enqueue(metadata.name);
  }
}

/** Whether the pool has, or had, a node group of its own. */
function isGroupKnown(pool: WindowsPool): boolean {
  return pool.status?.nodeGroup?.arn !== undefined;
}
