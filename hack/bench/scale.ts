import { waitFor } from '../controlplane/wait.ts';
import { operatorBundle } from '../operatorBundle.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { settle } from './noise.ts';
import { preparePools } from './pools.ts';
import { cpuSecondsOf, megabytes, memoryOf } from './processFigures.ts';
import type { Result, Row, Section } from './section.ts';
import { median, round } from './statistics.ts';

const GROUPS = 30;
const SIZES = [1_000, 5_000, 10_000];
const LARGE_SIZES = [20_000, 50_000];
const RUNS = 5;
/** The goal is set for 50,000 nodes. */
const GOAL_MB = 512;
const RESYNC_LIMIT_MS = 120_000;

/** The growth of memory and of a full resync with the cluster. */
export const scale: Section = {
  name: 'scale',
  what: `memory and a full resync of the bundled operator with ${GROUPS} pools, up to 10,000 nodes, with --large to 50,000`,
  run: async (bench): Promise<Result> => {
    const rows: Row[] = [];
    const bundle = await operatorBundle();
    let peakMB = 0;
    for (const [index, nodes] of [...SIZES, ...(bench.large ? LARGE_SIZES : [])].entries()) {
      const cluster = await bench.cluster(nodes, GROUPS);
      if (index === 0) await preparePools(cluster, bundle);
      // The operator that catches up with the new nodes is not measured.
      await resync(cluster, bundle);
      const row = summary(nodes, await repeated(cluster, bundle));
      peakMB = Math.max(peakMB, row.peakMB);
      rows.push(row);
    }
    return {
      how: `medians of ${RUNS} starts; resync: process start until every pool was reconciled from complete caches; memory after that; API server: its memory then, and its processor time for one resync`,
      rows,
      marks: [{ name: 'peak memory in MB', value: peakMB, limit: GOAL_MB }],
    };
  },
};

interface Resync {
  readonly syncedMs: number;
  readonly resyncMs: number;
  readonly rssKiB: number;
  readonly peakKiB: number;
  readonly cpuSeconds: number;
  readonly serverRssKiB: number;
  readonly serverCpuSeconds: number;
}

async function repeated(cluster: BenchCluster, bundle: string): Promise<Resync[]> {
  const resyncs: Resync[] = [];
  for (let run = 0; run < RUNS; run++) resyncs.push(await resync(cluster, bundle));
  return resyncs;
}

async function resync(cluster: BenchCluster, bundle: string): Promise<Resync> {
  const server = cluster.pidOf('kube-apiserver');
  const serverCpu = cpuSecondsOf(server);
  const operator = await BenchOperator.start(cluster, bundle, { flags: ['--leader-elect=false'] });
  try {
    const syncedMs = performance.now() - operator.started;
    const reconciled = async () => {
      const metrics = await operator.metrics();
      return metrics.sum('controller_runtime_reconcile_total') >= GROUPS && metrics.sum('workqueue_depth') === 0;
    };
    const what = `all ${GROUPS} pools to be reconciled`;
    await waitFor(reconciled, { what, timeoutMs: RESYNC_LIMIT_MS, intervalMs: 20, explain: () => operator.tail() });
    const resyncMs = performance.now() - operator.started;
    const cpuSeconds = operator.cpuSeconds;
    const serverCpuSeconds = cpuSecondsOf(server) - serverCpu;
    await settle(operator);
    return {
      ...{ syncedMs, resyncMs, cpuSeconds, serverCpuSeconds },
      ...operator.memory,
      serverRssKiB: memoryOf(server).rssKiB,
    };
  } finally {
    await operator.stop();
  }
}

function summary(nodes: number, resyncs: readonly Resync[]) {
  const middle = (pick: (resync: Resync) => number) => median(resyncs.map(pick));
  return {
    nodes,
    syncedMs: Math.round(middle(({ syncedMs }) => syncedMs)),
    resyncMs: Math.round(middle(({ resyncMs }) => resyncMs)),
    cpuSeconds: round(middle(({ cpuSeconds }) => cpuSeconds)),
    rssMB: megabytes(middle(({ rssKiB }) => rssKiB)),
    peakMB: megabytes(middle(({ peakKiB }) => peakKiB)),
    apiServerRssMB: megabytes(middle(({ serverRssKiB }) => serverRssKiB)),
    apiServerCpuSeconds: round(middle(({ serverCpuSeconds }) => serverCpuSeconds)),
  };
}
