import { setTimeout as sleep } from 'node:timers/promises';
import { operatorBundle } from '../operatorBundle.ts';
import { BenchOperator } from './benchOperator.ts';
import { applyEmptyPools, deleteEmptyPools, emptyPoolNames } from './emptyPools.ts';
import type { Metrics } from './metricsText.ts';
import { isReady, watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { round } from './statistics.ts';

const POOLS = 20;
const READY_MS = 120_000;
const RESYNC_SECONDS = 5;
const RESYNCS = 24;
/** With the shipped --resync-interval of ten minutes. */
const RESYNCS_PER_HOUR = 6;
const WRITES = /^(POST|PUT|PATCH|DELETE)$/;

/** The cost of settled pools. */
export const settled: Section = {
  name: 'settled',
  what: `calls of ${POOLS} settled pools to AWS and to the API server, for each pool and hour`,
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(0, 1);
    const { cloud } = cluster.world;
    const names = emptyPoolNames(POOLS);
    const pools = watchPools(cluster);
    const flags = ['--leader-elect=false', `--resync-interval=${RESYNC_SECONDS}s`];
    const operator = await BenchOperator.start(cluster, await operatorBundle(), { flags });
    try {
      const areReady = pools.until(`${POOLS} pools are Ready`, (all) => all.filter(isReady).length === POOLS, READY_MS);
      await Promise.all([areReady, applyEmptyPools(cluster, names)]);
      await sleep(3 * RESYNC_SECONDS * 1_000, undefined, { signal: bench.signal });
      cloud.resetCalls();
      const before = await operator.metrics();
      await sleep(RESYNCS * RESYNC_SECONDS * 1_000, undefined, { signal: bench.signal });
      const after = await operator.metrics();
      const calls = cloud.calls();
      const perHour = (count: number) => round((count * RESYNCS_PER_HOUR) / (RESYNCS * POOLS));
      const of = (operation: string) => calls.filter((call) => call.operation === operation).length;
      const operations = [...new Set(calls.map(({ operation }) => operation))].sort();
      const requests = (method: RegExp) => sum(after, method) - sum(before, method);
      const row = {
        pools: POOLS,
        ...Object.fromEntries(operations.map((operation) => [operation, perHour(of(operation))])),
        reads: perHour(requests(/^GET$/)),
        writes: perHour(requests(WRITES)),
      };
      await deleteEmptyPools(cluster, names);
      return {
        how: `${RESYNCS} resyncs of ${RESYNC_SECONDS} s each, told as of an hour with six; reads and writes: requests to the API server, watches among the reads`,
        rows: [row],
        marks: [
          {
            name: 'DescribeNodegroup for each pool and resync',
            value: round(of('DescribeNodegroup') / (RESYNCS * POOLS)),
            limit: 1.1,
          },
          { name: 'writes to the API server', value: requests(WRITES), limit: 0 },
          {
            name: 'writes to AWS',
            value: calls.filter(({ operation }) => !/^(Describe|Get|List)/.test(operation)).length,
            limit: 0,
          },
        ],
      };
    } finally {
      await pools.stop();
      await operator.stop();
    }
  },
};

const sum = (metrics: Metrics, method: RegExp) => metrics.sum('rest_client_requests_total', { method });
