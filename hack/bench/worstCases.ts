/**
 * What the worst input of one user costs the others: `node hack/bench/worstCases.ts [overlapping|hosts|pods]`. A hundred pools select all of 5,000 nodes, eight pools
 * name lists of hosts of 1 MB each, or 100,000 pods run on Windows nodes. It prints memory, event loop delay, and how long the pool of another user takes to become
 * Ready, at the start and while the input changes each second. To compare with another commit, copy hack/bench to a checkout of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { nodeName } from '../../controllers/kubernetes/testing/nodes.ts';
import { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { createEmptyPools, deleteEmptyPools } from './emptyPools.ts';
import { underHeartbeats } from './heartbeats.ts';
import { megabytes } from './processFigures.ts';
import { forEachOf } from './workers.ts';

const NODES = 5_000;
const OVERLAPPING = 100;
const LISTS = 8;
/** A ConfigMap holds at most 1 MiB. */
const LIST_BYTES = 1_000_000;
const PODS = 100_000;
const PODS_PER_CHANGE = 100;
const WRITERS = 24;
const CHANGES = 20;
/** The kubelets of 10,000 nodes. */
const HEARTBEATS = { rate: 33, seconds: 600 };
/** After this time, every pool was reconciled. */
const SETTLED_MS = 30_000;

const signal = AbortSignal.timeout(3_600_000);
const pool = (name: string, existingNodes: object) => ({
  apiVersion: 'winpool.dev/v1alpha1',
  kind: 'WindowsPool',
  metadata: { name },
  spec: { windowsVersion: 'Windows2022', existingNodes },
});
const list = (items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items });

interface Worst {
  prepare(cluster: BenchCluster): Promise<void>;
  /** Changes one of them. */
  change(cluster: BenchCluster, turn: number): Promise<void>;
}

const WORST: Readonly<Record<string, Worst>> = {
  overlapping: {
    async prepare({ world }) {
      const selector = { matchLabels: { 'kubernetes.io/os': 'windows' } };
      await world.apply(list(Array.from({ length: OVERLAPPING }, (_, index) => pool(`worst-${index}`, { selector }))));
    },
    async change({ admin }, turn) {
      const body = { spec: { existingNodes: { selector: { matchLabels: { turn: turn % 2 ? 'odd' : null } } } } };
      await admin.request('PATCH', `/apis/winpool.dev/v1alpha1/windowspools/worst-${turn % OVERLAPPING}`, {
        body,
        contentType: PATCH.merge,
        signal,
      });
    },
  },
  hosts: {
    async prepare(cluster) {
      const names = Array.from({ length: LISTS }, (_, index) => `hosts-${index}`);
      await cluster.world.apply(
        list(names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))),
      );
      for (const namespace of names) await writeList(cluster, 'POST', namespace, 0);
      const instancesConfigMap = (namespace: string) => ({ namespace, name: 'windows-instances' });
      await cluster.world.apply(
        list(names.map((name) => pool(`worst-${name}`, { instancesConfigMap: instancesConfigMap(name) }))),
      );
    },
    change: (cluster, turn) => writeList(cluster, 'PUT', `hosts-${turn % LISTS}`, turn),
  },
  pods: {
    async prepare({ world, admin }) {
      const metadata = { name: 'pods' };
      await world.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
      await world.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'pods' } });
      await world.apply(pool('worst', { selector: { matchLabels: { 'kubernetes.io/os': 'windows' } } }));
      await forEachOf(PODS, WRITERS, async (index) => {
        const body = {
          metadata: { name: `pod-${index}` },
          spec: {
            nodeName: nodeName(index % NODES),
            automountServiceAccountToken: false,
            containers: [{ name: 'app', image: 'registry.example/app:ltsc2022' }],
          },
        };
        await admin.request('POST', PODS_PATH, { body, signal, timeoutMs: 60_000 });
      });
    },
    async change({ admin }, turn) {
      await forEachOf(PODS_PER_CHANGE, WRITERS, async (index) => {
        const body = { metadata: { labels: { turn: String(turn) } } };
        await admin.request('PATCH', `${PODS_PATH}/pod-${index}`, { body, contentType: PATCH.merge, signal });
      });
    },
  },
};
const PODS_PATH = '/api/v1/namespaces/pods/pods';

async function writeList({ admin }: BenchCluster, method: 'POST' | 'PUT', namespace: string, turn: number) {
  const data: Record<string, string> = {};
  for (let bytes = 0, host = 0; bytes < LIST_BYTES; host++) {
    const key = `host-${namespace}-${turn}-${host}.example.com`;
    data[key] = 'username=Administrator';
    bytes += key.length + 22;
  }
  const url = `/api/v1/namespaces/${namespace}/configmaps${method === 'PUT' ? '/windows-instances' : ''}`;
  await admin.request(method, url, { body: { metadata: { name: 'windows-instances' }, data }, signal });
}

async function measure(name: string, worst: Worst): Promise<void> {
  const cluster = await BenchCluster.start({ groups: 1 }, console.log, signal);
  try {
    await cluster.grow(NODES, console.log);
    await worst.prepare(cluster);
    const started = performance.now();
    await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
    await createEmptyPools(cluster, 1);
    console.log(`${name}, at the start: another pool is Ready ${seconds(started)} s after the start of the operator.`);
    await sleep(SETTLED_MS);
    console.log(`${name}, at the start: ${await costsOf(operator)}`);
    await deleteEmptyPools(cluster, 1);
    await operator.metrics();
    const { result } = await underHeartbeats(cluster, HEARTBEATS, { say: console.log, signal }, async () => {
      const changes = (async () => {
        for (let turn = 1; turn <= CHANGES; turn++) {
          await worst.change(cluster, turn);
          await sleep(1_000);
        }
      })();
      const [ready] = await Promise.all([createEmptyPools(cluster, 1), changes]);
      return ready;
    });
    console.log(
      `${name}, ${CHANGES} changes: another pool is Ready after ${(result / 1_000).toFixed(1)} s. ${await costsOf(operator)}`,
    );
  } finally {
    await cluster.stop();
  }
}

const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);

/** The event loop since the last call: prom-client forgets it at each scrape. */
async function costsOf(operator: BenchOperator): Promise<string> {
  const metrics = await operator.metrics();
  const [p99, max] = ['p99', 'max'].map((of) => Math.round(metrics.sum(`nodejs_eventloop_lag_${of}_seconds`) * 1_000));
  const { rssKiB, peakKiB } = operator.memory;
  return `Event loop p99 ${p99} ms, max ${max} ms; RSS ${megabytes(rssKiB)} MB, peak ${megabytes(peakKiB)} MB.`;
}

const [chosen = Object.keys(WORST)] = process.argv.slice(2).map((name) => [name]);
for (const name of chosen) {
  const worst = WORST[name];
  if (!worst) throw new Error(`${name} is none of ${Object.keys(WORST).join(', ')}`);
  await measure(name, worst);
}
