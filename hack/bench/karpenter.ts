import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { GATE_TAINT, isGated } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { ObjectClient } from '../../test/fakes/clusterApi/objectClient.ts';
import { installKarpenter, NODE_CLASS } from '../../test/fakes/karpenter/karpenter.ts';
import { karpenterPool } from '../../test/pools.ts';
import { waitFor } from '../controlplane/wait.ts';
import { karpenterCrds } from '../karpenter/karpenter.ts';
import { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Figure, figureOf } from './figures.ts';
import { nodeObject } from './nodeObject.ts';
import { settle } from './noise.ts';
import { isReady, watchPools } from './pools.ts';
import { threadNanosecondsOf } from './processFigures.ts';
import type { Bench, Result, Row, Section } from './section.ts';
import { median, partsOf, percentile, round } from './statistics.ts';
import { type View, view } from './view.ts';
import { forEachOf } from './workers.ts';

/** 2,000 nodes that come and go within five minutes are 7 a second. */
const FULL = { sizes: [200, 2_000], rate: 7, samples: 70, warmUpSamples: 70, updates: 2_000, rounds: 7 };
const SMALL = { sizes: [5, 10], rate: 2, samples: 4, warmUpSamples: 1, updates: 20, rounds: 1 };
const GOAL_P99_MS = 250;
/** Of the cost of an event with ten times the nodes. */
const GOAL_RATIO = 1.5;
const WRITERS = 24;
const LIMIT_MS = 60_000;
const SETTLED_MS = 1_000;
const POOL = 'on-demand';
const MARK = 'bench.winpool.dev/karpenter';
const CLAIMS = '/apis/karpenter.sh/v1/nodeclaims';
const ROLE = ['role.yaml', 'role_binding.yaml'].map((file) =>
  fileURLToPath(new URL(`../../config/karpenter/${file}`, import.meta.url)),
);

/** A pool of Karpenter whose nodes come and go. Karpenter itself does not run: its writes are those of the bench, which would otherwise measure it, too. */
export const karpenter: Section = {
  name: 'karpenter',
  what: 'a pool of Karpenter with 2,000 nodes: from the registration of a node to its release from the gate, and the cost of events beside a pool with 200',
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const rows: Row[] = [];
    const costs: Cost[] = [];
    const figures: Figure[] = [];
    const cluster = await BenchCluster.start({ groups: 1 }, bench.say, bench.signal);
    try {
      await using scene = await Scene.start(cluster, bench);
      await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
      await scene.createPool();
      for (const nodes of settings.sizes) {
        await scene.grow(nodes);
        await settle(operator, bench);
        const samples = (await scene.churn(settings)).slice(settings.warmUpSamples);
        await settle(operator, bench);
        const cost = { updateUs: [] as number[], joinMs: [] as number[] };
        for (let run = 0; run < settings.rounds; run++) {
          cost.updateUs.push(
            (await cpuOf(operator, () => scene.touchClaims(settings.updates))) / settings.updates / 1_000,
          );
          cost.joinMs.push((await cpuOf(operator, () => scene.release())) / 1e6);
        }
        costs.push(cost);
        const at = (share: number) => round(percentile(samples, share), 1);
        const cpu = { updateUs: Math.round(median(cost.updateUs)), joinMs: round(median(cost.joinMs), 1) };
        rows.push({ nodes, samples: samples.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1), ...cpu });
        const name = `gated node of a pool of Karpenter with ${nodes.toLocaleString('en')} nodes, of which ${settings.rate} come and go each second, from its registration until its taint is removed: p99`;
        figures.push(
          figureOf(
            { name, unit: 'ms', goal: GOAL_P99_MS },
            partsOf(samples, settings.samples).map((part) => percentile(part, 0.99)),
          ),
        );
      }
      figures.push(...ratios(settings.sizes, costs));
    } finally {
      await cluster.stop();
    }
    return {
      how: 'the bench writes what Karpenter does: a NodeClaim, a node with the gate taint, and then the registration in the NodeClaim, at which the time begins; it ends with the watch event of the release. Cost: CPU time of the operator for an update of a NodeClaim in which nothing of interest changes, and for a node that joins and leaves',
      rows,
      figures,
    };
  },
};

interface Cost {
  readonly updateUs: readonly number[];
  readonly joinMs: readonly number[];
}

function ratios([few = 0, many = 0]: readonly number[], [small, large]: readonly Cost[]): Figure[] {
  if (!small || !large) return [];
  const beside = `${many.toLocaleString('en')} nodes, relative to ${few.toLocaleString('en')}`;
  const of = (pick: (cost: Cost) => readonly number[]) =>
    pick(large).map((value, run) => value / (pick(small)[run] ?? Number.NaN));
  return [
    figureOf(
      { name: `pool of Karpenter with ${beside}: CPU time of an update of a NodeClaim`, unit: '', goal: GOAL_RATIO },
      of(({ updateUs }) => updateUs),
    ),
    figureOf(
      {
        name: `pool of Karpenter with ${beside}: CPU time of a node that joins and leaves`,
        unit: '',
        goal: GOAL_RATIO,
      },
      of(({ joinMs }) => joinMs),
    ),
  ];
}

/** Nanoseconds of CPU time of the operator for the work, and for what it causes. */
async function cpuOf(operator: BenchOperator, work: () => Promise<unknown>): Promise<number> {
  const before = threadNanosecondsOf(operator.pid);
  await work();
  // What it causes takes less than that.
  await sleep(SETTLED_MS);
  return threadNanosecondsOf(operator.pid) - before;
}

/** The objects of Karpenter and their nodes. */
class Scene implements AsyncDisposable {
  readonly #cluster: BenchCluster;
  readonly #bench: Bench;
  readonly #nodes: View<NodeRecord>;
  #nodePoolUid = '';
  #count = 0;

  private constructor(cluster: BenchCluster, bench: Bench, nodes: View<NodeRecord>) {
    this.#cluster = cluster;
    this.#bench = bench;
    this.#nodes = nodes;
  }

  /** Installs the CRDs and the role of the operator. */
  static async start(cluster: BenchCluster, bench: Bench): Promise<Scene> {
    const { controlPlane } = cluster.world;
    const crds = await karpenterCrds(bench.signal);
    const client = await ObjectClient.connect(controlPlane.adminKubeconfig, 'bench', bench.signal);
    await installKarpenter(controlPlane, client, crds, bench.signal).finally(() => client.close());
    for (const file of ROLE) await cluster.world.kubectl('apply', '-f', file);
    return new Scene(cluster, bench, view('nodes', nodeListWatch(cluster.admin, MARK), nodeIdentity));
  }

  /** Creates the pool, and marks its NodePool as Ready. */
  async createPool(): Promise<void> {
    await using pools = watchPools(this.#cluster);
    const spec = { verification: { policy: 'Gate' } };
    await this.#cluster.world.apply(karpenterPool(POOL, { nodeClassRef: NODE_CLASS }, spec));
    const path = `/apis/karpenter.sh/v1/nodepools/${POOL}`;
    const { uid } = await waitFor(
      async () => (await this.#request<{ metadata: { uid: string } }>('GET', path).catch(() => undefined))?.metadata,
      { what: 'the NodePool', timeoutMs: LIMIT_MS, intervalMs: 100 },
    );
    this.#nodePoolUid = uid;
    const conditions = [condition('ValidationSucceeded'), condition('NodeClassReady'), condition('Ready')];
    await this.#request('PATCH', `${path}/status`, { status: { conditions } });
    await pools.until(`pool ${POOL} is Ready`, (all) => all.some(isReady), LIMIT_MS);
  }

  /** Adds registered nodes without the gate until there are `count`. */
  async grow(count: number): Promise<void> {
    const first = this.#count;
    await forEachOf(count - first, WRITERS, async (offset) => {
      await this.#createClaim(first + offset, { isRegistered: true });
      await this.#createNode(first + offset, {});
    });
    this.#count = count;
  }

  /** Nodes come and go at a constant rate. Returns how long each had the gate, in milliseconds. */
  async churn({ rate, samples, rounds, warmUpSamples }: typeof FULL): Promise<number[]> {
    const releases: Promise<number>[] = [];
    for (let index = 0; index < warmUpSamples + samples * rounds; index++) {
      releases.push(this.release(this.#count + index));
      await sleep(1_000 / rate);
    }
    return Promise.all(releases);
  }

  /** A gated node registers, is released, and leaves. Returns the milliseconds until the release. */
  async release(index = this.#count): Promise<number> {
    await this.#createClaim(index, { isRegistered: false });
    const node = await this.#createNode(index, { labels: { [MARK]: 'true' }, taints: [GATE_TAINT] });
    const joined = (gated: boolean) => (all: readonly NodeRecord[]) =>
      all.some(({ name, taints }) => name === node && isGated({ taints }) === gated);
    await this.#nodes.until(`${node} joins`, joined(true), LIMIT_MS);
    const started = performance.now();
    await this.#setStatus(index, true);
    const released = await this.#nodes.until(`${node} is released`, joined(false), LIMIT_MS);
    const gone = this.#nodes.until(`${node} is gone`, (all) => all.every(({ name }) => name !== node), LIMIT_MS);
    await this.#request('DELETE', `/api/v1/nodes/${node}`);
    await Promise.all([gone, this.#request('DELETE', `${CLAIMS}/${claimName(index)}`)]);
    return released - started;
  }

  /** Updates of what the operator does not read, as each event of a pod causes one. */
  async touchClaims(updates: number): Promise<void> {
    await forEachOf(updates, WRITERS, async (update) => {
      const lastPodEventTime = new Date(Date.UTC(2026, 0, 1) + update * 1_000).toISOString();
      const path = `${CLAIMS}/${claimName(update % this.#count)}/status`;
      await this.#request('PATCH', path, { status: { lastPodEventTime } });
    });
  }

  async #createClaim(index: number, { isRegistered }: { readonly isRegistered: boolean }): Promise<void> {
    const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: POOL, uid: this.#nodePoolUid };
    const metadata = { name: claimName(index), labels: { 'karpenter.sh/nodepool': POOL }, ownerReferences: [owner] };
    const requirements = [{ key: 'kubernetes.io/os', operator: 'In', values: ['windows'] }];
    const spec = { nodeClassRef: NODE_CLASS, requirements, startupTaints: [GATE_TAINT] };
    await this.#request('POST', CLAIMS, { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata, spec });
    await this.#setStatus(index, isRegistered);
  }

  async #setStatus(index: number, isRegistered: boolean): Promise<void> {
    const conditions = [condition('Launched'), ...(isRegistered ? [condition('Registered')] : [])];
    const { metadata, spec } = nodeObject(index, POOL);
    const status = {
      conditions,
      providerID: spec?.providerID,
      ...(isRegistered && { nodeName: metadata.name }),
    };
    await this.#request('PATCH', `${CLAIMS}/${claimName(index)}/status`, { status });
  }

  async #createNode(index: number, extras: Parameters<typeof nodeObject>[2]): Promise<string> {
    const node = nodeObject(index, POOL, extras);
    const { 'eks.amazonaws.com/nodegroup': _group, ...labels } = node.metadata.labels ?? {};
    const known = { ...labels, 'karpenter.sh/nodepool': POOL, 'karpenter.sh/registered': 'true' };
    await this.#request('POST', '/api/v1/nodes', { ...node, metadata: { ...node.metadata, labels: known } });
    return node.metadata.name ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nodes[Symbol.asyncDispose]();
  }

  #request<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Wire<T>> {
    const { signal } = this.#bench;
    const options = { ...(body && { body }), ...(method === 'PATCH' && { contentType: PATCH.merge }), signal };
    return this.#cluster.admin.request<T>(method, path, options);
  }
}

const claimName = (index: number) => `${POOL}-${index}`;

function condition(type: string): object {
  const lastTransitionTime = '2026-01-15T08:01:30Z';
  return { type, status: 'True', reason: type, message: '', lastTransitionTime };
}
