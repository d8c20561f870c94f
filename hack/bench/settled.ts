import { setTimeout as sleep } from 'node:timers/promises';
import { BenchOperator } from './benchOperator.ts';
import { AT_ONCE, createEmptyPools } from './emptyPools.ts';
import { type Figure, figureOf, noneOf, rounded } from './figures.ts';
import type { Metrics } from './metricsText.ts';
import { megabytes } from './processFigures.ts';
import type { Bench, Result, Section } from './section.ts';
import { median } from './statistics.ts';

interface Settings {
  readonly pools: number;
  /** After the creation. */
  readonly settleSeconds: number;
  readonly resyncs: number;
  readonly resyncSeconds: number;
}

/** After a burst of 100, the operator sends EKS at most 20 calls a second: a resync of 1,000 pools takes 45 seconds. */
const FULL: readonly Settings[] = [
  { pools: 20, settleSeconds: 15, resyncs: 12, resyncSeconds: 5 },
  { pools: 1_000, settleSeconds: 30, resyncs: 3, resyncSeconds: 60 },
];
const SMALL: readonly Settings[] = [{ pools: 2, settleSeconds: 3, resyncs: 3, resyncSeconds: 1 }];
/** With the shipped --resync-interval of ten minutes. */
const RESYNCS_PER_HOUR = 6;
const WRITES = /^(POST|PUT|PATCH|DELETE)$/;
const READY_MS = 600_000;

/** The cost of settled pools. */
export const settled: Section = {
  name: 'settled',
  what: 'calls of 20 and of 1,000 settled pools to AWS and to the API server, for each pool and hour; CPU time and memory',
  limitMs: 20 * 60_000,
  run: async (bench): Promise<Result> => {
    const runs = [];
    for (const settings of bench.pick(FULL, SMALL)) {
      // Each with its own cluster: deleting 1,000 pools takes longer than starting a new one.
      await bench.stop();
      runs.push(await atRest(bench, settings));
    }
    await bench.stop();
    return {
      how: 'after all pools were created and resynced; calls and reads: for each pool and hour, with six resyncs; reads and writes: requests to the API server; CPU: of the process, for a resync of one pool; memory: of the process that created the pools',
      rows: runs.map(({ row }) => row),
      figures: runs.flatMap(({ figures }) => figures),
    };
  },
};

async function atRest(bench: Bench, { pools: count, settleSeconds, resyncs, resyncSeconds }: Settings) {
  const cluster = await bench.cluster(0, 1);
  const { cloud } = cluster.world;
  cloud.faults.speed({ speed: AT_ONCE });
  const flags = ['--leader-elect=false', `--resync-interval=${resyncSeconds}s`];
  await using operator = await BenchOperator.start(cluster, { flags });
  await createEmptyPools(cluster, count, { timeoutMs: READY_MS });
  await sleep(settleSeconds * 1_000, undefined, { signal: bench.signal });
  cloud.resetCalls();
  const before = await operator.metrics();
  const cpuMs: number[] = [];
  const rssMB: number[] = [];
  for (let resync = 0; resync < resyncs; resync++) {
    const cpu = operator.cpuSeconds;
    await sleep(resyncSeconds * 1_000, undefined, { signal: bench.signal });
    cpuMs.push(((operator.cpuSeconds - cpu) * 1_000) / count);
    rssMB.push(megabytes(operator.memory.rssKiB));
  }
  const after = await operator.metrics();
  const calls = cloud.calls();
  const perHour = (all: number) => rounded((all * RESYNCS_PER_HOUR) / (resyncs * count));
  const of = (operation: string) => calls.filter((call) => call.operation === operation).length;
  const operations = [...new Set(calls.map(({ operation }) => operation))].sort();
  const requests = (method: RegExp) => sum(after, method) - sum(before, method);
  const row = {
    pools: count,
    resyncs,
    resyncSeconds,
    ...Object.fromEntries(operations.map((operation) => [operation, perHour(of(operation))])),
    reads: perHour(requests(/^GET$/)),
    writes: perHour(requests(WRITES)),
    cpuMs: rounded(median(cpuMs)),
    rssMB: rounded(median(rssMB)),
  };
  const awsWrites = calls.filter(({ operation }) => !/^(Describe|Get|List)/.test(operation)).length;
  const what = `${count.toLocaleString('en')} pools that are up to date`;
  const figures: Figure[] = [
    {
      name: `${what}: DescribeNodegroup calls per pool and resync`,
      unit: '',
      value: rounded(of('DescribeNodegroup') / (resyncs * count)),
      goal: 1.1,
    },
    { name: `${what}: calls to AWS per pool and hour`, unit: '', value: perHour(calls.length) },
    { name: `${what}: reads of the API server per pool and hour`, unit: '', value: row.reads },
    noneOf(`${what}: writes to the API server`, requests(WRITES)),
    noneOf(`${what}: writes to AWS`, awsWrites),
    figureOf({ name: `${what}: CPU time per pool and resync`, unit: 'ms' }, cpuMs),
    figureOf({ name: `${what}: memory (RSS)`, unit: 'MB' }, rssMB),
  ];
  return { row, figures };
}

const sum = (metrics: Metrics, method: RegExp) => metrics.sum('rest_client_requests_total', { method });
