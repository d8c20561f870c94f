/**
 * Which change in the cluster wakes which pools.
 *
 *   watch         the change that matters                      is first taken into                  wakes
 *   WindowsPool   anything but its status, which is our own    fleet, lists of hosts, membership    the pool; when it is gone, those that may get its group's name
 *   Node          anything that a NodeRecord has               membership, nodes of the pools       the pools of its node groups; membership wakes those of existing nodes
 *   RuntimeClass  any                                                                               the pools that use its name
 *   ConfigMap     the list of hosts that pools name            membership                           those pools
 *
 * A heartbeat wakes nobody: it changes nothing that a NodeRecord has, and `nodeIdentity.absorbUnchanged` of controllers/kubernetes/nodes.ts drops it
 * before any listener hears of it. A pool that waits for others is woken by the fleet.
 */
import type { WindowsPool } from './api.gen.ts';
import type { Fleet } from './disruption/fleet.ts';
import { nodeGroupsOf, type PoolNodesCache } from './nodes/poolNodesCache.ts';
import type { InstanceList, NodeRecord } from './ports/nodes.ts';
import type { NodeMembership } from './providers/existing/nodeMembership.ts';
import { providerOf } from './providers/providers.ts';
import { runtimeClassFor } from './runtimeClass/runtimeClass.ts';
import { canonical } from './util/hash.ts';

/** A change of an object: without `before` it is new, without `after` it is gone. */
interface Change<T> {
  readonly before?: T | undefined;
  readonly after?: T | undefined;
}

/** What is derived from the watched objects, and the stores of them. */
export interface WatchedViews {
  readonly pools: {
    get(name: string): WindowsPool | undefined;
    list(): readonly WindowsPool[];
    byIndex(index: keyof typeof poolIndexes, value: string): readonly WindowsPool[];
  };
  readonly nodes: { byIndex(index: 'nodeGroup', group: string): readonly NodeRecord[] };
  readonly fleet: Pick<Fleet, 'follow' | 'onRelief'>;
  readonly poolNodesCache: Pick<PoolNodesCache, 'follow'>;
  readonly nodeMembership: Pick<NodeMembership, 'declare' | 'follow' | 'reconsider'>;
  /** The lists of hosts that pools name. */
  readonly lists: { follow(name: string, pool: WindowsPool | undefined): void; of(pool: WindowsPool): InstanceList };
}

/** Takes each change into what is derived from it, and then wakes pools. One subscription for each store. */
export class Watches {
  readonly #views: WatchedViews;
  #wake: (pool: string) => void = () => undefined;
  #gone: (pool: string) => void = () => undefined;

  constructor(views: WatchedViews) {
    this.#views = views;
  }

  /** From now on pools are woken: those that are there already at once. `gone` is told of a pool's end before others are woken by it. */
  begin(wake: (pool: string) => void, gone: (pool: string) => void): void {
    this.#wake = wake;
    this.#gone = gone;
    this.#views.fleet.onRelief(wake);
    for (const { metadata } of this.#views.pools.list()) wake(metadata.name);
  }

  pool(key: string, { before, after }: Change<WindowsPool>): void {
    const { fleet, lists, nodes, nodeMembership } = this.#views;
    fleet.follow(before, after);
    lists.follow(key, after);
    this.#declare(key);
    // Whose the nodes of a group are follows from which pool has it.
    const groups = [groupKnownOf(before), groupKnownOf(after)];
    if (groups[0] !== groups[1])
      for (const group of groups) if (group !== undefined) nodeMembership.reconsider(nodes.byIndex('nodeGroup', group));
    if (poolChangeMatters(before, after)) this.#wake(key);
    if (!before || after) return;
    this.#gone(key);
    for (const group of poolIndexes.nodeGroup(before)) this.#wakeBy('nodeGroup', group);
  }

  node({ before, after }: Change<NodeRecord>): void {
    this.#views.nodeMembership.follow(before, after);
    this.#views.poolNodesCache.follow(before, after);
    for (const group of nodeGroupsOf(before, after)) this.#wakeBy('nodeGroup', group);
  }

  runtimeClass(name: string): void {
    this.#wakeBy('runtimeClass', name);
  }

  /** The list of hosts that a pool names has changed: also where no node comes or goes, status tells of the list itself. */
  list(pool: string): void {
    this.#declare(pool);
    this.#wake(pool);
  }

  /** What a pool wants, now that it or its list has changed. */
  #declare(name: string): void {
    const { pools, lists, nodeMembership } = this.#views;
    const pool = pools.get(name);
    nodeMembership.declare(name, pool, pool && lists.of(pool));
  }

  #wakeBy(index: keyof typeof poolIndexes, value: string): void {
    for (const { metadata } of this.#views.pools.byIndex(index, value)) this.#wake(metadata.name);
  }
}

/** The node group that a pool has, or had; undefined where none is known. */
export function groupKnownOf(pool: WindowsPool | undefined): string | undefined {
  return pool?.status?.nodeGroup?.arn === undefined ? undefined : providerOf(pool).nodeGroupName(pool);
}

/** Whether a pool must be looked at: anything changed but its status, which the operator writes itself. */
export function poolChangeMatters(before: WindowsPool | undefined, after: WindowsPool | undefined): boolean {
  if (!before || !after) return true;
  const asked = ({ metadata, spec }: WindowsPool) => {
    const { uid, generation, deletionTimestamp, finalizers, annotations } = metadata;
    return canonical([uid, generation, deletionTimestamp, finalizers, annotations, spec]);
  };
  return asked(before) !== asked(after);
}

/** The names under which a pool's nodes and RuntimeClasses are found: keys of the store's indexes. */
export const poolIndexes = {
  nodeGroup: (pool: WindowsPool): string[] => {
    const name = providerOf(pool).nodeGroupName(pool);
    return name === undefined ? [] : [name];
  },
  runtimeClass: (pool: WindowsPool): string[] => {
    const names = [runtimeClassFor(pool)?.name, pool.status?.runtimeClass?.name];
    return [...new Set(names.filter((name) => name !== undefined))];
  },
} as const;
