/** The NodePools of pools, their NodeClaims and EC2NodeClasses: they are watched while a pool has spec.karpenter, and EC2NodeClasses while one has nodeClass. */

import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  karpenterObjectListWatch,
  nodeClaimIndexes,
  nodeClaimListWatch,
} from '../../controllers/kubernetes/karpenter.ts';
import { quietIdentity } from '../../controllers/kubernetes/objects.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { nodesOfMachines } from '../../controllers/windowspool/membership/machineNodes.ts';
import {
  isCreatedFor,
  type KarpenterKind,
  type KarpenterObject,
  type KarpenterView,
  type NodeClaim,
} from '../../controllers/windowspool/ports/karpenter.ts';
import type { MachineNodes } from '../../controllers/windowspool/ports/machines.ts';
import { OptionalCache } from './optionalCache.ts';

interface Watched {
  readonly nodePools: OptionalCache<KarpenterObject>;
  readonly nodeClaims: OptionalCache<NodeClaim, keyof typeof nodeClaimIndexes>;
  /** From the first pool on that has one: only Karpenter's provider for AWS serves them. */
  nodeClasses: OptionalCache<KarpenterObject> | undefined;
  readonly ending: AbortController;
}

/** Watches NodePools and NodeClaims from the first pool with spec.karpenter on, until the last one is gone. */
export class KarpenterCaches {
  readonly #client: KubernetesClient;
  readonly #log: Logger;
  readonly #metrics: EngineMetrics;
  readonly #changed: (pool: string) => void;
  /** Whether each pool has an EC2NodeClass. */
  readonly #pools = new Map<string, boolean>();
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
    const { karpenter } = object?.spec ?? {};
    if (karpenter) this.#pools.set(pool, karpenter.nodeClass !== undefined);
    else {
      this.#pools.delete(pool);
      this.#nodes.delete(pool);
    }
    if (this.#pools.size === 0) {
      this.stop();
      return;
    }
    this.#watched ??= this.#watch();
    if (karpenter?.nodeClass)
      this.#watched.nodeClasses ??= this.#watchObjects('EC2NodeClass', this.#watched.ending.signal);
  }

  /** What the pool has in Karpenter, by the last events. */
  of(pool: string): KarpenterView {
    if (!this.#watched) return { kind: 'unknown' };
    const { nodePools, nodeClaims, nodeClasses } = this.#watched;
    const classes = this.#pools.get(pool) ? nodeClasses : undefined;
    const unknown = nodePools.unknown ?? nodeClaims.unknown ?? classes?.unknown;
    if (unknown) return unknown;
    const nodePool = nodePools.store.get(pool);
    const claims = nodePool ? nodeClaims.store.byIndex('nodePool', nodePool.uid) : [];
    const others = nodePools.store.list().filter(({ name }) => name !== pool);
    return { kind: 'seen', nodePool, claims, others, ...(classes && { nodeClass: classes.store.get(pool) }) };
  }

  /** The nodes of the pool's NodeClaims; undefined while they are not known. The same object for the same nodes. */
  nodesOf(pool: string): MachineNodes | undefined {
    const view = this.of(pool);
    if (view.kind === 'unknown') return undefined;
    const isOwn = view.kind === 'seen' && view.nodePool !== undefined && isCreatedFor(view.nodePool, pool);
    const nodes = nodesOfMachines({ machines: isOwn ? view.claims : [] }, this.#nodes.get(pool));
    this.#nodes.set(pool, nodes);
    return nodes;
  }

  /** Resolves when the NodePools and NodeClaims were read, or that failed. */
  get synced(): Promise<unknown> {
    const { nodePools, nodeClaims, nodeClasses } = this.#watched ?? {};
    return Promise.all([nodePools, nodeClaims, nodeClasses].map((cache) => cache?.synced));
  }

  /** Stops all watches. */
  stop(): void {
    this.#watched?.ending.abort();
    this.#watched = undefined;
  }

  #watch(): Watched {
    const ending = new AbortController();
    const nodePools = this.#watchObjects('NodePool', ending.signal);
    const nodeClaims = new OptionalCache<NodeClaim, keyof typeof nodeClaimIndexes>({
      ...this.#common('NodeClaim'),
      source: (onResult) => nodeClaimListWatch(this.#client, onResult),
      identity: quietIdentity<NodeClaim>(),
      indexes: nodeClaimIndexes,
    });
    nodeClaims.store.subscribe(({ before, after }) => {
      // The end of the first list is reported once.
      if (!nodeClaims.store.hasSynced) return;
      const uids = new Set([before, after].flatMap((claim) => claim?.nodePoolUid ?? []));
      for (const pool of this.#pools.keys()) if (uids.has(nodePools.store.get(pool)?.uid ?? '')) this.#changed(pool);
    });
    this.#start(nodeClaims, ending.signal);
    return { nodePools, nodeClaims, nodeClasses: undefined, ending };
  }

  #watchObjects(kind: KarpenterKind, signal: AbortSignal): OptionalCache<KarpenterObject> {
    const cache = new OptionalCache<KarpenterObject>({
      ...this.#common(kind),
      source: (onResult) => karpenterObjectListWatch(this.#client, kind, onResult),
      identity: quietIdentity<KarpenterObject>(),
    });
    cache.store.subscribe(({ key }) => {
      if (!cache.store.hasSynced) return;
      if (this.#pools.has(key)) this.#changed(key);
      // It may take pods of each pool.
      else if (kind === 'NodePool') this.#notify();
    });
    this.#start(cache, signal);
    return cache;
  }

  #common(name: string) {
    const hooks = this.#metrics.reflector(name);
    return { name, clock: realClock, log: this.#log, hooks, changed: () => this.#notify() };
  }

  #start(
    cache: { readonly store: { readonly synced: Promise<void> }; run(signal: AbortSignal): Promise<void> },
    signal: AbortSignal,
  ): void {
    // Neither promise ever rejects.
    void cache.store.synced.then(() => this.#notify());
    void cache.run(signal);
  }

  #notify(): void {
    for (const pool of this.#pools.keys()) this.#changed(pool);
  }
}
