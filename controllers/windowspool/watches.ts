/**
 * Which change in the cluster triggers which pools.
 *
 *   watch         relevant change                   updates first                      triggers
 *   WindowsPool   all but status, which is our own  pool registry, instance lists, membership  the pool; when deleted, pools waiting for its group's name
 *   Node          any field of NodeRecord           membership, pool nodes             pools of its node groups; membership triggers its own pools
 *   RuntimeClass  any but other owners, while it is as desired                         pools that use its name
 *   ConfigMap     an instance list that pools name  membership                         those pools
 *   Machine       any field of Machine, and its MachineSet and MachineDeployment       the pool whose object has it
 *   NodeClaim     any field of NodeClaim, and its NodePool                             the pool of the NodePool
 *   Pod           one of the operator's on a node   membership, pool nodes             its pool
 *
 * A heartbeat triggers nothing: it changes no field of NodeRecord, and `nodeIdentity.absorbUnchanged` of controllers/kubernetes/nodes.ts drops it
 * before it reaches any listener. The registry triggers pools that wait for other pools.
 */
import type { WindowsPool } from './api/api.gen.ts';
import type { PoolRegistry } from './disruption/poolRegistry.ts';
import type { Selected } from './membership/nodeMembership.ts';
import { runsNodePods } from './nodePods/preparation.ts';
import { nodeGroupsOf, type PoolNodesCache } from './nodes/poolNodesCache.ts';
import type { MachineNodes } from './ports/machines.ts';
import type { NodePod } from './ports/nodePods.ts';
import type { InstanceList, NodeRecord } from './ports/nodes.ts';
import type { RuntimeClass } from './ports/runtimeClasses.ts';
import { providerOf } from './providers/providers.ts';
import { isAvailable, runtimeClassFor } from './runtimeClass/runtimeClass.ts';
import { canonical } from './util/hash.ts';

/** A change of an object: no `before` when it was added, no `after` when it was deleted. */
interface Change<T> {
  readonly before?: T | undefined;
  readonly after?: T | undefined;
}

/** Which nodes belong to pools that select them, and which of them each pool holds. */
export interface Memberships {
  declare(name: string, pool: WindowsPool | undefined, selected: Selected): void;
  declareLater(name: string, declare: () => void): void;
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void;
  reconsider(nodes: readonly NodeRecord[]): void;
  podsChanged(pool: string, node: string): void;
}

/** The watched objects, and the caches derived from them. */
export interface WatchedViews {
  readonly pools: {
    get(name: string): WindowsPool | undefined;
    list(): readonly WindowsPool[];
    byIndex(index: keyof typeof poolIndexes, value: string): readonly WindowsPool[];
  };
  readonly nodes: { byIndex(index: 'nodeGroup', group: string): readonly NodeRecord[] };
  readonly poolRegistry: Pick<PoolRegistry, 'follow' | 'onRelease'>;
  readonly poolNodesCache: Pick<PoolNodesCache, 'follow' | 'podsChanged' | 'forget'>;
  readonly nodeMembership: Memberships;
  /** The instance lists (ConfigMaps) that pools name. */
  readonly lists: { follow(name: string, pool: WindowsPool | undefined): void; of(pool: WindowsPool): InstanceList };
  /** The Machines of the objects that pools name. */
  readonly machineSets: MachineCache;
  /** The NodeClaims of the NodePools of pools. */
  readonly nodePools: MachineCache;
}

/** Machines or NodeClaims that have the nodes of pools. */
export interface MachineCache {
  follow(name: string, pool: WindowsPool | undefined): void;
  /** Undefined: they are not known, or the pool has none. */
  nodesOf(pool: string): MachineNodes | undefined;
}

/** How many pools are triggered by a node whose group no pool has. */
const MOST_NAMING = 3;

/** Applies each change to the derived caches, and then triggers pools. One subscription for each store. */
export class Watches {
  readonly #views: WatchedViews;
  #wake: (pool: string) => void = () => undefined;
  #gone: (pool: string) => void = () => undefined;

  constructor(views: WatchedViews) {
    this.#views = views;
  }

  /** Starts to trigger pools, existing pools at once. `gone` is called for a deleted pool before other pools are triggered by the deletion. */
  begin(wake: (pool: string) => void, gone: (pool: string) => void): void {
    this.#wake = wake;
    this.#gone = gone;
    this.#views.poolRegistry.onRelease(wake);
    for (const { metadata } of this.#views.pools.list()) wake(metadata.name);
  }

  pool(key: string, { before, after }: Change<WindowsPool>): void {
    const { poolRegistry, lists, machineSets, nodePools, nodes, nodeMembership } = this.#views;
    // Which pool has a group decides which pool its nodes belong to.
    const [had, has] = [groupsKnownOf(before), groupsKnownOf(after)];
    each([
      () => poolRegistry.follow(before, after),
      () => lists.follow(key, after),
      () => machineSets.follow(key, after),
      () => nodePools.follow(key, after),
      () => this.#declare(key),
      () => {
        // Its instances are nobody's now.
        if (!after) this.#views.poolNodesCache.forget(key);
      },
      () => {
        const moved = [...had, ...has].filter((group) => had.includes(group) !== has.includes(group));
        for (const group of moved) nodeMembership.reconsider(nodes.byIndex('nodeGroup', group));
      },
      () => {
        if (poolChangeMatters(before, after)) this.#wake(key);
        if (!before || after) return;
        this.#gone(key);
        for (const group of poolIndexes.nodeGroup(before)) this.#wakeNaming(group);
      },
    ]);
  }

  node({ before, after }: Change<NodeRecord>): void {
    each([
      () => this.#views.nodeMembership.follow(before, after),
      () => this.#views.poolNodesCache.follow(before, after),
      () => {
        for (const group of nodeGroupsOf(before, after)) this.#wakeGroup(group);
      },
    ]);
  }

  /** Triggers the pools that have the group. Any number of pools can name a group of others: while no pool has it, a few of them are triggered. */
  #wakeGroup(group: string): void {
    const naming = this.#views.pools.byIndex('nodeGroup', group);
    const having = naming.filter((pool) => groupsKnownOf(pool).includes(group));
    for (const { metadata } of having.length > 0 ? having : naming.slice(0, MOST_NAMING)) this.#wake(metadata.name);
  }

  runtimeClass(change: Change<RuntimeClass>): void {
    const seen = change.after ?? change.before;
    if (!seen) return;
    for (const pool of this.#views.pools.byIndex('runtimeClass', seen.name))
      if (runtimeClassChangeMatters(pool, change)) this.#wake(pool.metadata.name);
  }

  /**
   * The instance list of a pool, or its Machines or their object, have changed. Status reports on them, so the pool is triggered even when no node joins or leaves
   * it.
   */
  selected(pool: string): void {
    // Karpenter and Cluster API report each Machine many times, and what a pool selects costs as much as it has Machines.
    this.#views.nodeMembership.declareLater(pool, () => this.#declare(pool));
    this.#wake(pool);
  }

  nodePod({ before, after }: Change<NodePod>): void {
    const { poolNodesCache, nodeMembership } = this.#views;
    const affected = new Map([before, after].flatMap((pod) => (pod?.pool ? [[`${pod.pool}/${pod.node}`, pod]] : [])));
    each(
      [...affected.values()].flatMap(({ pool, node }) => [
        () => poolNodesCache.podsChanged(pool, node),
        () => nodeMembership.podsChanged(pool, node),
        () => this.#wake(pool),
      ]),
    );
  }

  /** Whether the pods of the operator can be listed has changed. */
  nodePodsListed(): void {
    for (const { metadata, spec } of this.#views.pools.list())
      if (runsNodePods(spec.verification)) this.#wake(metadata.name);
  }

  /** Declares what a pool selects, after the pool or its list changed. */
  #declare(name: string): void {
    const { pools, lists, machineSets, nodePools, nodeMembership } = this.#views;
    const pool = pools.get(name);
    const machines = (pool?.spec.karpenter ? nodePools : machineSets).nodesOf(name);
    nodeMembership.declare(name, pool, { list: pool && lists.of(pool), machines });
  }

  /** Triggers all pools that name the group. */
  #wakeNaming(group: string): void {
    for (const { metadata } of this.#views.pools.byIndex('nodeGroup', group)) this.#wake(metadata.name);
  }
}

/** Runs all of them and then throws what they threw: a defect in one cache must not keep a pool from being triggered. */
function each(actions: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const action of actions) {
    try {
      action();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
  if (errors.length === 1) throw errors[0];
}

/** The node groups that a pool has or had; empty if none is known. */
export function groupsKnownOf(pool: WindowsPool | undefined): readonly string[] {
  const { arn, replacement, canary } = pool?.status?.nodeGroup ?? {};
  return pool && (arn ?? replacement ?? canary) !== undefined ? providerOf(pool).nodeGroupNames(pool) : [];
}

/** Whether a pool must be reconciled: anything changed except its status, which the operator writes itself. */
export function poolChangeMatters(before: WindowsPool | undefined, after: WindowsPool | undefined): boolean {
  if (!before || !after) return true;
  const relevant = ({ metadata, spec }: WindowsPool) => {
    const { uid, generation, deletionTimestamp, finalizers, annotations, labels } = metadata;
    return canonical([uid, generation, deletionTimestamp, finalizers, annotations, labels, spec]);
  };
  return relevant(before) !== relevant(after);
}

/**
 * Whether a change of a RuntimeClass triggers a pool that uses its name. The pools of a Windows version share one, and each that is created or deleted
 * changes its owners: that must not trigger a thousand others.
 */
export function runtimeClassChangeMatters(pool: WindowsPool, { before, after }: Change<RuntimeClass>): boolean {
  if (!before || !after) return true;
  return !isAvailable(pool, before) || !isAvailable(pool, after);
}

/** The names by which a pool's nodes and RuntimeClasses are found: keys of the store's indexes. */
export const poolIndexes = {
  nodeGroup: (pool: WindowsPool): string[] => [...providerOf(pool).nodeGroupNames(pool)],
  runtimeClass: (pool: WindowsPool): string[] => {
    const names = [runtimeClassFor(pool).name, pool.status?.runtimeClass?.name];
    return [...new Set(names.filter((name) => name !== undefined))];
  },
} as const;
