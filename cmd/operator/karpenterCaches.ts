/** The NodePools of pools and their NodeClaims: they are watched while a pool has spec.karpenter. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  karpenterIdentity,
  nodeClaimIndexes,
  nodeClaimListWatch,
  nodePoolListWatch,
} from '../../controllers/kubernetes/karpenter.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { isSameNodes, nodesOfMachines } from '../../controllers/windowspool/membership/machineNodes.ts';
import type { KarpenterView, NodeClaim, NodePool } from '../../controllers/windowspool/ports/karpenter.ts';
import type { MachineNodes } from '../../controllers/windowspool/ports/machines.ts';
import { OptionalCache } from './optionalCache.ts';

interface Watched {
  readonly nodePools: OptionalCache<NodePool>;
  readonly nodeClaims: OptionalCache<NodeClaim, keyof typeof nodeClaimIndexes>;
  readonly ending: AbortController;
}

/** Watches NodePools and NodeClaims from the first pool with spec.karpenter on, until the last one is gone. */
export class KarpenterCaches {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  readonly #pools = new Set<string>();
  readonly #nodes = new Map<string, MachineNodes>();
  #watched: Watched | undefined;

  /** @param changed called for each pool whose NodePool or NodeClaims changed */
  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics, changed: (pool: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
  }

  /** Takes in the pool as it is now; undefined: it was deleted. */
  follow(pool: string, object: Pick<WindowsPool, 'spec'> | undefined): void {
    if (object?.spec.karpenter) this.#pools.add(pool);
    else {
      this.#pools.delete(pool);
      this.#nodes.delete(pool);
    }
    if (this.#pools.size > 0) this.#watched ??= this.#watch();
    else this.stop();
  }

  /** What the pool has in Karpenter, by the last events. */
  of(pool: string): KarpenterView {
    if (!this.#watched) return { kind: 'unknown' };
    const { nodePools, nodeClaims } = this.#watched;
    const unknown = nodePools.unknown ?? nodeClaims.unknown;
    if (unknown) return unknown;
    const nodePool = nodePools.store.get(pool);
    if (!nodePool) return { kind: 'absent' };
    return { kind: 'seen', nodePool, claims: nodeClaims.store.byIndex('nodePool', nodePool.uid) };
  }

  /** The nodes of the pool's NodeClaims; undefined while they are not known. The same object for the same nodes. */
  nodesOf(pool: string): MachineNodes | undefined {
    const view = this.of(pool);
    if (view.kind === 'unknown') return undefined;
    const isOwn = view.kind === 'seen' && view.nodePool.createdFor === pool;
    const now = nodesOfMachines({ machines: isOwn ? view.claims : [] });
    const before = this.#nodes.get(pool);
    const nodes = before && isSameNodes(before, now) ? before : now;
    this.#nodes.set(pool, nodes);
    return nodes;
  }

  /** Resolves when the NodePools and NodeClaims were read, or that failed. */
  get synced(): Promise<unknown> {
    return Promise.all([this.#watched?.nodePools.synced, this.#watched?.nodeClaims.synced]);
  }

  /** Stops all watches. */
  stop(): void {
    this.#watched?.ending.abort();
    this.#watched = undefined;
  }

  #watch(): Watched {
    const ending = new AbortController();
    const notify = () => {
      for (const pool of this.#pools) this.#changed(pool);
    };
    const common = (name: string) => ({ name, clock: realClock, log: this.#log, hooks: this.#metrics.reflector(name) });
    const nodePools = new OptionalCache<NodePool>({
      ...common('NodePool'),
      source: (onResult) => nodePoolListWatch(this.#client, onResult),
      identity: karpenterIdentity<NodePool>(),
      changed: notify,
    });
    const nodeClaims = new OptionalCache<NodeClaim, keyof typeof nodeClaimIndexes>({
      ...common('NodeClaim'),
      source: (onResult) => nodeClaimListWatch(this.#client, onResult),
      identity: karpenterIdentity<NodeClaim>(),
      indexes: nodeClaimIndexes,
      changed: notify,
    });
    nodePools.store.subscribe(({ key }) => {
      // The end of the first list is reported once.
      if (nodePools.store.hasSynced && this.#pools.has(key)) this.#changed(key);
    });
    nodeClaims.store.subscribe(({ before, after }) => {
      if (!nodeClaims.store.hasSynced) return;
      const uids = new Set([before, after].flatMap((claim) => claim?.nodePoolUid ?? []));
      for (const pool of this.#pools) if (uids.has(nodePools.store.get(pool)?.uid ?? '')) this.#changed(pool);
    });
    for (const cache of [nodePools, nodeClaims]) {
      // Neither promise ever rejects.
      void cache.store.synced.then(notify);
      void cache.run(ending.signal);
    }
    return { nodePools, nodeClaims, ending };
  }
}
