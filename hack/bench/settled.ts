import { setTimeout as sleep } from 'node:timers/promises';
import { BenchOperator } from './benchOperator.ts';
import { createEmptyPools, deleteEmptyPools } from './emptyPools.ts';
import { noneOf, rounded } from './figures.ts';
import type { Metrics } from './metricsText.ts';
import type { Result, Section } from './section.ts';

const FULL = { pools: 20, resyncs: 12, resyncSeconds: 5, nodes: 0, groups: 10 };
const SMALL = { pools: 2, resyncs: 3, resyncSeconds: 1, nodes: 4, groups: 2 };
/** With the shipped --resync-interval of ten minutes. */
const RESYNCS_PER_HOUR = 6;
const WRITES = /^(POST|PUT|PATCH|DELETE)$/;

/** The cost of settled pools. */
export const settled: Section = {
  name: 'settled',
  what: `calls of ${FULL.pools} settled pools to AWS and to the API server, for each pool and hour`,
  run: async (bench): Promise<Result> => {
    const { pools: count, resyncs, resyncSeconds, nodes, groups } = bench.pick(FULL, SMALL);
    const cluster = await bench.cluster(nodes, groups);
    const { cloud } = cluster.world;
    const flags = ['--leader-elect=false', `--resync-interval=${resyncSeconds}s`];
    await using operator = await BenchOperator.start(cluster, { flags });
    await createEmptyPools(cluster, count);
    await sleep(3 * resyncSeconds * 1_000, undefined, { signal: bench.signal });
    cloud.resetCalls();
    const before = await operator.metrics();
    await sleep(resyncs * resyncSeconds * 1_000, undefined, { signal: bench.signal });
    const after = await operator.metrics();
    const calls = cloud.calls();
    const perHour = (all: number) => rounded((all * RESYNCS_PER_HOUR) / (resyncs * count));
    const of = (operation: string) => calls.filter((call) => call.operation === operation).length;
    const operations = [...new Set(calls.map(({ operation }) => operation))].sort();
    const requests = (method: RegExp) => sum(after, method) - sum(before, method);
    const row = {
      pools: count,
      ...Object.fromEntries(operations.map((operation) => [operation, perHour(of(operation))])),
      reads: perHour(requests(/^GET$/)),
      writes: perHour(requests(WRITES)),
    };
    await deleteEmptyPools(cluster, count);
    return {
      how: `${resyncs} resyncs of ${resyncSeconds} s each, told as of an hour with six; reads and writes: requests to the API server, watches among the reads`,
      rows: [row],
      figures: [
        {
          name: 'pool that is up to date: DescribeNodegroup calls per resync',
          unit: '',
          value: rounded(of('DescribeNodegroup') / (resyncs * count)),
          goal: 1.1,
        },
        noneOf('pool that is up to date: writes to the API server', requests(WRITES)),
        noneOf(
          'pool that is up to date: writes to AWS',
          calls.filter(({ operation }) => !/^(Describe|Get|List)/.test(operation)).length,
        ),
      ],
    };
  },
};

const sum = (metrics: Metrics, method: RegExp) => metrics.sum('rest_client_requests_total', { method });
