import { waitFor } from '../controlplane/wait.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Figure, figureOf } from './figures.ts';
import { settle } from './noise.ts';
import { cpuSecondsOf, megabytes, memoryOf } from './processFigures.ts';
import type { Bench, Result, Row, Section } from './section.ts';
import { median, round } from './statistics.ts';

const FULL = { sizes: [10_000], groups: 30, runs: 7 };
const SMALL = { sizes: [40], groups: 2, runs: 1 };
const LARGE_SIZES = [20_000, 50_000];
/** For 10,000 nodes, and for 50,000. */
const GOALS_MB: Readonly<Record<number, number>> = { 10000: 120, 50000: 512 };
const RESYNC_LIMIT_MS = 120_000;

/** The growth of memory and of a full resync with the cluster. */
export const scale: Section = {
  name: 'scale',
  what: `memory and a full resync of the bundled operator with ${FULL.groups} pools and 10,000 nodes, with --large up to 50,000`,
  run: async (bench): Promise<Result> => {
    const { sizes, groups, runs } = bench.pick(FULL, SMALL);
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const nodes of [...sizes, ...(bench.size === 'large' ? LARGE_SIZES : [])]) {
      const cluster = await bench.poolsOf(nodes, groups);
      const resyncs: Resync[] = [];
      for (let run = 0; run < runs; run++) resyncs.push(await resync(cluster, bench));
      rows.push(summary(nodes, resyncs));
      figures.push(
        ...figuresOf(`operator with ${nodes.toLocaleString('en')} nodes in ${groups} pools`, nodes, resyncs),
      );
    }
    return {
      how: `medians of ${runs} starts; resync: process start until every pool was reconciled from complete caches; memory after that; API server: its memory then, and its processor time for one resync`,
      rows,
      figures,
    };
  },
};

function figuresOf(what: string, nodes: number, resyncs: readonly Resync[]): Figure[] {
  const goal = GOALS_MB[nodes];
  return [
    figureOf(
      { name: `${what}: memory (RSS) at rest`, unit: 'MB', ...(goal !== undefined && { goal }) },
      resyncs.map(({ rssKiB }) => megabytes(rssKiB)),
    ),
    figureOf(
      { name: `${what}: peak memory`, unit: 'MB' },
      resyncs.map(({ peakKiB }) => megabytes(peakKiB)),
    ),
    figureOf(
      { name: `${what}: time from start until every pool is reconciled`, unit: 's' },
      resyncs.map(({ resyncMs }) => resyncMs / 1_000),
    ),
  ];
}

interface Resync {
  readonly syncedMs: number;
  readonly resyncMs: number;
  readonly rssKiB: number;
  readonly peakKiB: number;
  readonly cpuSeconds: number;
  readonly serverRssKiB: number;
  readonly serverCpuSeconds: number;
}

async function resync(cluster: BenchCluster, bench: Bench): Promise<Resync> {
  const server = cluster.pidOf('kube-apiserver');
  const serverCpu = cpuSecondsOf(server);
  await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
  const syncedMs = performance.now() - operator.started;
  const reconciled = async () => {
    const metrics = await operator.metrics();
    return metrics.sum('controller_runtime_reconcile_total') >= cluster.groups && metrics.sum('workqueue_depth') === 0;
  };
  const what = `all ${cluster.groups} pools to be reconciled`;
  await waitFor(reconciled, { what, timeoutMs: RESYNC_LIMIT_MS, intervalMs: 20, explain: () => operator.tail() });
  const resyncMs = performance.now() - operator.started;
  const cpuSeconds = operator.cpuSeconds;
  const serverCpuSeconds = cpuSecondsOf(server) - serverCpu;
  await settle(operator, bench);
  return {
    ...{ syncedMs, resyncMs, cpuSeconds, serverCpuSeconds },
    ...operator.memory,
    serverRssKiB: memoryOf(server).rssKiB,
  };
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
