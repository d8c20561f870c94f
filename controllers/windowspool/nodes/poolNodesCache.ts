/**
 * The nodes of all pools with node groups, so that a node event reaches the pools that it concerns.
 *
 *   node event ──▶ PoolNodesCache ──▶ the PoolNodes of each pool with that node group ──▶ counts, failing, joining, mislabelled
 */

import { NODE_GROUP_LABEL } from '../api/labels.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { PoolNodes } from './poolNodes.ts';

/** The operator's pods of a pool on a node. */
export type PodsOfPool = (pool: string, node: NodeRecord) => readonly NodePod[];

/** The PoolNodes of all pools. A pool's are created at its first reconcile and follow node events from then on. */
export class PoolNodesCache {
  readonly #byPool = new Map<string, { readonly groups: readonly string[]; readonly poolNodes: PoolNodes }>();
  readonly #poolsOf = new Map<string, Set<string>>();
  #listsOfForgotten = 0;
  readonly #nodesOf: (group: string) => readonly NodeRecord[];
  readonly #now: () => number;
  readonly #podsOn: PodsOfPool;

  /**
   * @param nodesOf the cached nodes of a node group, read when PoolNodes are created
   * @param podsOn the cached pods of the operator on a node, as far as they are the pool's
   */
  constructor(nodesOf: (group: string) => readonly NodeRecord[], now: () => number, podsOn: PodsOfPool = () => []) {
    this.#nodesOf = nodesOf;
    this.#now = now;
    this.#podsOn = podsOn;
  }

  /** The nodes of a pool that has these node groups. Their order does not matter. */
  of(pool: string, groups: readonly string[], expected: Expectation): PoolNodes {
    const known = this.#byPool.get(pool);
    if (known && isSameSet(known.groups, groups)) {
      known.poolNodes.verifyAgainst(expected, this.#now());
      return known.poolNodes;
    }
    this.forget(pool);
    const poolNodes = new PoolNodes(groups.flatMap(this.#nodesOf), expected, this.#now(), (node) =>
      this.#podsOn(pool, node),
    );
    this.#byPool.set(pool, { groups, poolNodes });
    for (const group of groups) this.#poolsOf.set(group, (this.#poolsOf.get(group) ?? new Set()).add(pool));
    return poolNodes;
  }

  /** Applies a change of a node to all PoolNodes that it concerns. */
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    for (const group of nodeGroupsOf(before, after)) {
      for (const pool of this.#poolsOf.get(group) ?? []) {
        const poolNodes = this.#byPool.get(pool)?.poolNodes;
        if (after && nodeGroupsOf(after).includes(group)) poolNodes?.put(after, this.#now());
        else if (before) poolNodes?.leave(before);
      }
    }
  }

  /** Changes whenever the instances of a pool's node groups do. */
  get revision(): number {
    return [...this.#byPool.values()].reduce((sum, { poolNodes }) => sum + poolNodes.lists, this.#listsOfForgotten);
  }

  /** The pool whose node groups have this EC2 instance, by the last list; undefined if none has. */
  poolOfInstance(id: string): string | undefined {
    for (const [pool, { poolNodes }] of this.#byPool) if (poolNodes.isInstance(id)) return pool;
    return undefined;
  }

  /** Takes in a change of the operator's pods on a node. */
  podsChanged(pool: string, node: string): void {
    this.#byPool.get(pool)?.poolNodes.podsChanged(node, this.#now());
  }

  /** Forgets a deleted pool. */
  forget(pool: string): void {
    const known = this.#byPool.get(pool);
    if (!known) return;
    this.#byPool.delete(pool);
    this.#listsOfForgotten += known.poolNodes.lists + 1;
    for (const group of known.groups) {
      const pools = this.#poolsOf.get(group);
      pools?.delete(pool);
      if (pools?.size === 0) this.#poolsOf.delete(group);
    }
  }
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each) => others.includes(each));
}

/** The node groups of nodes, by the label that EKS sets: two when a node moved. */
export function nodeGroupsOf(...nodes: readonly (NodeRecord | undefined)[]): string[] {
  const groups = nodes.map((node) => node?.labels[NODE_GROUP_LABEL]).filter((group) => group !== undefined);
  return [...new Set(groups)];
}
