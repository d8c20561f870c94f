/** What users and AWS do with pools during a soak test: specs change, pools are deleted and created again, nodes are replaced and interrupted. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1ConfigMap, V1NodeList } from '@kubernetes/client-node';
import { type KubernetesClient, PATCH } from '../../../controllers/kubernetes/client.ts';
import type { Stored, Wire } from '../../../controllers/kubernetes/objects.ts';
import { RETRY_ANNOTATION } from '../../../controllers/windowspool/api/labels.ts';
import { conditionLines } from '../../../test/fakes/testenv/testEnv.ts';
import { waitFor } from '../../controlplane/wait.ts';
import type { BenchCluster } from '../benchCluster.ts';
import { groupName } from '../nodeObject.ts';
import { groupPool, LATER_RELEASES, MOST_NODES, POOL_LABEL } from './poolSpecs.ts';
import { pick } from './random.ts';

const PAUSE_MS = 700;
const TIMEOUT_MS = 30_000;
/** A deletion takes EKS a second, unless its calls fail. The operator first labels the nodes of other pools. */
const RECREATE_MS = 300_000;
const POOLS = '/apis/winpool.dev/v1alpha1/windowspools';
const DEFAULT = '/api/v1/namespaces/default';
const OWNER = 'soak';

type Change =
  | 'existingLabels'
  | 'groupLabels'
  | 'tags'
  | 'sizes'
  | 'releases'
  | 'replacements'
  | 'removals'
  | 'interruptions'
  | 'notReady'
  | 'deletions';

/** How often each kind of change is made, relative to the others. Labels of existing nodes are written to each of them. */
const weights: Readonly<Record<Change, number>> = {
  ...{ existingLabels: 2, groupLabels: 3, tags: 2, sizes: 4, releases: 1 },
  ...{ replacements: 4, removals: 2, interruptions: 1, notReady: 2, deletions: 1 },
};

export type PoolChurnCounts = Record<Change, number> & { failed: number };

export class PoolChurn {
  readonly counts: PoolChurnCounts;
  readonly #cluster: BenchCluster;
  readonly #admin: KubernetesClient;
  readonly #groupPools: readonly string[];
  readonly #random: () => number;
  readonly #changes: readonly Change[];
  /** Pools that were deleted, and are to be created again. */
  readonly #deleted = new Set<string>();
  /** Nodes that are not Ready. */
  readonly #notReady = new Set<string>();
  #turn = 0;

  constructor(cluster: BenchCluster, groupPools: readonly string[], random: () => number) {
    this.#cluster = cluster;
    this.#admin = cluster.admin;
    this.#groupPools = groupPools;
    this.#random = random;
    this.#changes = (Object.keys(weights) as Change[]).flatMap((change) => Array(weights[change]).fill(change));
    this.counts = { ...weights, failed: 0 };
    for (const change of Object.keys(weights) as Change[]) this.counts[change] = 0;
  }

  /** Makes changes until the signal aborts. The API server is sometimes unavailable: changes that fail are counted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const change = pick(this.#changes, this.#random);
      try {
        await this.#recreate();
        if (await this.#make(change)) this.counts[change]++;
      } catch {
        this.counts.failed++;
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Reverts what would prevent pools from being reconciled: nodes that are not Ready, and pools that are deleted. An update that failed is not retried
   * until a user requests it.
   */
  async settle(signal: AbortSignal): Promise<void> {
    for (const node of this.#notReady) this.#setReady(node, true);
    await waitFor(() => this.#recreate().then(() => this.#deleted.size === 0), {
      what: 'deleted pools to be gone, and created again',
      timeoutMs: RECREATE_MS,
      intervalMs: 1_000,
      signal,
      explain: async () => {
        const left = await Promise.all([...this.#deleted].map((name) => this.#cluster.world.pool(name)));
        return left.map((pool) => `${pool?.metadata.name}\n${conditionLines(pool)}`).join('\n');
      },
    });
    const metadata = { annotations: { [RETRY_ANNOTATION]: String(this.#turn) } };
    for (const pool of this.#groupPools) await this.#request('PATCH', `${POOLS}/${pool}`, { metadata });
  }

  /** Whether there was something to change. */
  async #make(change: Change): Promise<boolean> {
    this.#turn++;
    const group = pick(this.#groupPools, this.#random);
    const label = `t${this.#turn}`;
    switch (change) {
      case 'existingLabels': {
        const index = Math.floor(this.#cluster.groups * this.#random());
        await this.#patchSpec(groupName(index, this.#cluster.groups), { labels: { tier: label } });
        return true;
      }
      case 'groupLabels':
        await this.#patchSpec(group, { labels: { tier: label } });
        return true;
      case 'tags':
        await this.#patchSpec(group, { nodeGroup: { tags: { cost: label } } });
        return true;
      case 'sizes': {
        const minSize = 1 + Math.floor(MOST_NODES * this.#random());
        await this.#patchSpec(group, { nodeGroup: { scaling: { minSize } } });
        return true;
      }
      case 'releases':
        await this.#patchSpec(group, { nodeGroup: { releaseVersion: pick(LATER_RELEASES, this.#random) } });
        return true;
      case 'deletions':
        await this.#request('DELETE', `${POOLS}/${group}`);
        this.#deleted.add(group);
        return true;
      default:
        return this.#changeNode(change, group);
    }
  }

  async #changeNode(change: Change, group: string): Promise<boolean> {
    const query = { labelSelector: `${POOL_LABEL}=${group}` };
    const { items } = await this.#request<Pick<V1NodeList, 'items'>>('GET', '/api/v1/nodes', undefined, query);
    const name = items.length === 0 ? undefined : pick(items, this.#random).metadata?.name;
    if (name === undefined) return false;
    if (change === 'interruptions') this.#cluster.world.cloud.faults.terminateInstance({ node: name });
    else if (change === 'notReady') this.#setReady(name, this.#notReady.has(name));
    else {
      await this.#makePod(name);
      const annotation = change === 'replacements' ? 'replace' : 'remove';
      await this.#request('PATCH', `/api/v1/nodes/${name}`, {
        metadata: { annotations: { [`winpool.dev/${annotation}`]: 'true' } },
      });
    }
    return true;
  }

  #setReady(node: string, ready: boolean): void {
    const { instances } = this.#cluster.world.cloud.state;
    const lives = instances.values().some(({ nodeName, state }) => nodeName === node && state !== 'terminated');
    if (lives) this.#cluster.world.cloud.faults.nodeReady({ node, ready });
    if (ready || !lives) this.#notReady.delete(node);
    else this.#notReady.add(node);
  }

  /** A pod on the node that has a controller, so that a drain evicts it. */
  async #makePod(node: string): Promise<void> {
    const owner = await this.#owner();
    await this.#request('POST', `${DEFAULT}/pods`, {
      metadata: { generateName: 'soak-', ownerReferences: [owner] },
      spec: {
        nodeName: node,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'main', image: 'main' }],
      },
    });
  }

  async #owner(): Promise<object> {
    const path = `${DEFAULT}/configmaps`;
    const body = { metadata: { name: OWNER } };
    const { metadata } = await this.#request<Stored<V1ConfigMap>>('GET', `${path}/${OWNER}`).catch(() =>
      this.#request<Stored<V1ConfigMap>>('POST', path, body),
    );
    return { apiVersion: 'v1', kind: 'ConfigMap', name: OWNER, uid: metadata.uid, controller: true };
  }

  /** Creates the pools that were deleted and are gone. */
  async #recreate(): Promise<void> {
    for (const name of this.#deleted) {
      const created = await this.#request('POST', POOLS, groupPool(name)).then(
        () => true,
        () => false,
      );
      if (created) this.#deleted.delete(name);
    }
  }

  #patchSpec(name: string, spec: object): Promise<unknown> {
    return this.#request('PATCH', `${POOLS}/${name}`, { spec });
  }

  #request<T>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    query?: Readonly<Record<string, string>>,
  ): Promise<Wire<T>> {
    const contentType = method === 'PATCH' ? PATCH.merge : 'application/json';
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return this.#admin.request<T>(method, path, {
      signal,
      contentType,
      ...(body && { body }),
      ...(query && { query }),
    });
  }
}
