/** The caches of one replica, as in cmd/operator/caches.ts. Instead of reflectors, the world delivers each change, as late as it decides. */

import { type NodeIndex, nodeIdentity, nodeIndexes } from '../../../controllers/kubernetes/nodes.ts';
import { poolIdentity } from '../../../controllers/kubernetes/pools.ts';
import type { Clock, Logger } from '../../../controllers/runtime/ports.ts';
import { Store } from '../../../controllers/runtime/store.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { PoolRegistry } from '../../../controllers/windowspool/disruption/poolRegistry.ts';
import { NodeMembership } from '../../../controllers/windowspool/membership/nodeMembership.ts';
import { PoolNodesCache } from '../../../controllers/windowspool/nodes/poolNodesCache.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import type { RuntimeClass } from '../../../controllers/windowspool/ports/runtimeClasses.ts';
import { releaseFailuresIn } from '../../../controllers/windowspool/providers/providers.ts';
import { groupsKnownOf, poolIndexes, Watches } from '../../../controllers/windowspool/watches.ts';

/** A change of an object in the API server: no `after` when it was deleted. */
export type ObjectChange =
  | { readonly kind: 'pool'; readonly before: WindowsPool | undefined; readonly after: WindowsPool | undefined }
  | { readonly kind: 'node'; readonly before: NodeRecord | undefined; readonly after: NodeRecord | undefined }
  | {
      readonly kind: 'runtimeClass';
      readonly before: RuntimeClass | undefined;
      readonly after: RuntimeClass | undefined;
    };

/** The objects of the API server at one time. */
export interface Objects {
  readonly pools: Iterable<WindowsPool>;
  readonly nodes: Iterable<NodeRecord>;
  readonly version: string;
}

export class ReplicaCaches {
  readonly pools: Store<WindowsPool, keyof typeof poolIndexes>;
  readonly nodes: Store<NodeRecord, NodeIndex>;
  readonly poolRegistry = new PoolRegistry(releaseFailuresIn);
  readonly poolNodesCache: PoolNodesCache;
  readonly nodeMembership: NodeMembership;
  readonly #watches: Watches;
  readonly #clock: Clock;
  readonly #inbox: { readonly at: number; readonly change: ObjectChange }[] = [];
  #wake: (pool: string) => void = () => undefined;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.pools = new Store({ identity: poolIdentity, indexes: poolIndexes, log });
    this.nodes = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log });
    const now = () => clock.now();
    this.poolNodesCache = new PoolNodesCache((group) => this.nodes.byIndex('nodeGroup', group), now);
    this.nodeMembership = new NodeMembership({
      nodes: () => this.nodes.list(),
      poolOfGroup: (group) =>
        this.pools.byIndex('nodeGroup', group).find((pool) => groupsKnownOf(pool).includes(group))?.metadata.name,
      instances: this.poolNodesCache,
      wake: (pool) => this.#wake(pool),
      now,
    });
    // No pool of a simulated life names an instance list or Machines.
    const lists = { follow: () => undefined, of: () => ({ kind: 'absent' }) as const };
    const none = { follow: () => undefined, nodesOf: () => undefined };
    this.#watches = new Watches({ ...this.views, lists, machineSets: none, nodePools: none });
    this.pools.subscribe(({ key, ...change }) => this.#watches.pool(key, change));
    this.nodes.subscribe((change) => this.#watches.node(change));
  }

  private get views() {
    const { pools, nodes, poolRegistry, poolNodesCache, nodeMembership } = this;
    return { pools, nodes, poolRegistry, poolNodesCache, nodeMembership };
  }

  /** Lists everything, and triggers pools from now on. */
  begin({ pools, nodes, version }: Objects, wake: (pool: string) => void, gone: (pool: string) => void): void {
    this.pools.replace(pools, version, { newest: true });
    this.nodes.replace([...nodes].map(copied), version, { newest: true });
    this.#wake = wake;
    this.#watches.begin(wake, gone);
  }

  /** Delivers a change after a delay, in the order of the changes. The process knows the result of its own write at once. */
  receive(change: ObjectChange, delayMs: number, isOwn: boolean): void {
    if (isOwn && change.kind === 'pool' && change.after) this.pools.observeWrite(change.after);
    if (isOwn && change.kind === 'node' && change.after) this.nodes.observeWrite(copied(change.after));
    const at = Math.max(this.#clock.now() + delayMs, this.#inbox.at(-1)?.at ?? 0);
    this.#inbox.push({ at, change });
    this.#clock.after(at - this.#clock.now(), () => this.#deliver());
  }

  #deliver(): void {
    for (let next = this.#inbox[0]; next && next.at <= this.#clock.now(); next = this.#inbox[0]) {
      this.#inbox.shift();
      const { change } = next;
      if (change.kind === 'runtimeClass') this.#watches.runtimeClass(change);
      else if (change.kind === 'pool') apply(this.pools, change.before, change.after);
      else apply(this.nodes, change.before, change.after && copied(change.after));
    }
  }
}

function apply<T>(store: Store<T, string>, before: T | undefined, after: T | undefined): void {
  if (after) store.upsert(after);
  else if (before) store.remove(before);
}

/** The store changes its records. */
function copied(node: NodeRecord): NodeRecord {
  return { ...node };
}
