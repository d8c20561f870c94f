import { setTimeout as sleep } from 'node:timers/promises';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { nodeName } from '../../controllers/kubernetes/testing/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { GATE_TAINT, isGated } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { operatorBundle } from '../operatorBundle.ts';
import { conditionOf } from '../testenv/testEnv.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { sendHeartbeats } from './heartbeats.ts';
import { groupName } from './nodeObject.ts';
import { settle } from './noise.ts';
import { preparePools, watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { percentile, round } from './statistics.ts';
import { type View, view } from './view.ts';

const NODES = 10_000;
const GROUPS = 10;
const RATE = 300;
const SAMPLES = 100;
const WARM_UP_SAMPLES = 10;
const GAP_MS = 300;
const GOAL_P99_MS = 250;
const LIMIT_MS = 30_000;
const MARK = 'bench.winpool.dev/gate';
const POOL = groupName(0, GROUPS);

/** How long a new node that passes every check keeps the gate taint. */
export const gate: Section = {
  name: 'gate',
  what: `from the registration of a node among ${NODES}, with ${RATE} heartbeats per second, to its release from the gate`,
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(NODES, GROUPS);
    const bundle = await operatorBundle();
    await preparePools(cluster, bundle);
    const flags = ['--leader-elect=false', '--poll-interval=300ms'];
    const operator = await BenchOperator.start(cluster, bundle, { flags });
    const nodes = view('nodes', nodeListWatch(cluster.admin, MARK), nodeIdentity);
    const pools = watchPools(cluster);
    const kubelets = await cluster.anotherClient();
    const quiet = new AbortController();
    const ending = AbortSignal.any([quiet.signal, bench.signal]);
    try {
      await setPolicy(cluster, pools, 'Gate', bench.signal);
      await settle(operator);
      const still = await sample(cluster, nodes, SAMPLES / 4);
      const heartbeats = sendHeartbeats(cluster, { rate: RATE, seconds: 600 }, ending, kubelets);
      const noisy = await sample(cluster, nodes, SAMPLES);
      quiet.abort();
      const sent = await heartbeats;
      await setPolicy(cluster, pools, 'Report', bench.signal);
      const rows = [
        { noise: 0, ...figures(still) },
        { noise: Math.round(sent.count / sent.seconds), ...figures(noisy) },
      ];
      return {
        how: 'a node is created Ready, complete and with the taint of the gate; from the watch event of its creation to that of its release, as a third process sees them',
        rows,
        marks: [{ name: 'p99 under noise in ms', value: round(percentile(noisy, 0.99), 1), limit: GOAL_P99_MS }],
      };
    } finally {
      quiet.abort();
      await Promise.all([nodes.stop(), pools.stop(), kubelets.close()]);
      await operator.stop();
    }
  },
};

/** Later sections expect the pool in its original state. */
async function setPolicy(
  { admin }: BenchCluster,
  pools: View<WindowsPool>,
  policy: WindowsPool['spec']['verification']['policy'],
  signal: AbortSignal,
): Promise<void> {
  const body = { spec: { verification: { policy } } };
  const path = `/apis/winpool.dev/v1alpha1/windowspools/${POOL}`;
  const { metadata } = await admin.request<WindowsPool>('PATCH', path, { body, contentType: PATCH.merge, signal });
  const isDone = (pool: WindowsPool) =>
    pool.metadata.name === POOL &&
    pool.status?.observedGeneration === metadata.generation &&
    conditionOf(pool, 'UpToDate') === 'True/AsSpecified';
  await pools.until(`${POOL} has the policy ${policy}`, (all) => all.some(isDone), LIMIT_MS);
}

function figures(samples: readonly number[]) {
  const at = (share: number) => round(percentile(samples, share), 1);
  return { samples: samples.length, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), worstMs: at(1) };
}

/** The times of `count` releases in milliseconds, after some that are not counted. */
async function sample(cluster: BenchCluster, nodes: View<NodeRecord>, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let index = -WARM_UP_SAMPLES; index < count; index++) {
    const ms = await release(cluster, nodes);
    if (index >= 0) samples.push(ms);
    await sleep(GAP_MS);
  }
  return samples;
}

async function release(cluster: BenchCluster, nodes: View<NodeRecord>): Promise<number> {
  // The first number beyond the others that is in the pool.
  const index = NODES;
  const name = nodeName(index);
  const has = (predicate: (node: NodeRecord) => boolean) => (all: readonly NodeRecord[]) =>
    all.some((node) => node.name === name && predicate(node));
  const joined = nodes.until(`${name} joins`, has(isGated), LIMIT_MS);
  const created = cluster.createNode(index, { labels: { [MARK]: 'true' }, taints: [GATE_TAINT] });
  const [joinedAt] = await Promise.all([joined, created]);
  const releasedAt = await nodes.until(
    `${name} is released`,
    has((node) => !isGated(node)),
    LIMIT_MS,
  );
  const gone = nodes.until(`${name} is gone`, (all) => all.length === 0, LIMIT_MS);
  await Promise.all([cluster.deleteNode(index), gone]);
  return releasedAt - joinedAt;
}
