import { setTimeout as sleep } from 'node:timers/promises';
import { operatorBundle } from '../operatorBundle.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { preparePools } from './pools.ts';
import { megabytes } from './processFigures.ts';
import type { Result, Section } from './section.ts';
import { median, round } from './statistics.ts';

const RUNS = 5;
const NODES = 3;
const REST_SECONDS = 15;
const GOAL = { rssMB: 80, firstReconcileMs: 1_000 };

interface Run {
  readonly readyMs: number;
  readonly firstReconcileMs: number;
  readonly rssMB: number;
  readonly peakMB: number;
  readonly cpuPercent: number;
}

/** The cost of an idle operator. */
export const idle: Section = {
  name: 'idle',
  what: 'the bundled operator with one small pool: start to the first reconcile, and memory and CPU at rest',
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(NODES, 1);
    const bundle = await operatorBundle();
    await preparePools(cluster, bundle);
    const runs: Run[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await once(cluster, bundle, bench.signal));
    const middle = (pick: (run: Run) => number, digits = 0) => round(median(runs.map(pick)), digits);
    const row = {
      readyMs: middle((run) => run.readyMs),
      firstReconcileMs: middle((run) => run.firstReconcileMs),
      rssMB: middle((run) => run.rssMB, 1),
      peakMB: middle((run) => run.peakMB, 1),
      cpuPercent: middle((run) => run.cpuPercent, 2),
    };
    return {
      how: `medians of ${RUNS} starts; one Ready pool of ${NODES} nodes, flags as shipped; first reconcile: its first call arrives at AWS, which is later than its begin; the rest lasts ${REST_SECONDS} s`,
      rows: [row],
      marks: [
        { name: 'RSS at rest in MB', value: row.rssMB, limit: GOAL.rssMB },
        {
          name: 'process start to the first reconcile in ms',
          value: row.firstReconcileMs,
          limit: GOAL.firstReconcileMs,
        },
      ],
    };
  },
};

async function once(cluster: BenchCluster, bundle: string, signal: AbortSignal): Promise<Run> {
  const { promise: called, resolve } = Promise.withResolvers<number>();
  cluster.world.cloud.setGate(() => resolve(performance.now()));
  // As shipped: the other sections read its metrics without TLS.
  const operator = await BenchOperator.start(cluster, bundle, { flags: ['--metrics-secure=true'] });
  try {
    const readyMs = performance.now() - operator.started;
    const firstReconcileMs = (await called) - operator.started;
    await sleep(REST_SECONDS * 1_000, undefined, { signal });
    const cpu = operator.cpuSeconds;
    await sleep(REST_SECONDS * 1_000, undefined, { signal });
    const { rssKiB, peakKiB } = operator.memory;
    const cpuPercent = ((operator.cpuSeconds - cpu) * 100) / REST_SECONDS;
    return { readyMs, firstReconcileMs, rssMB: megabytes(rssKiB), peakMB: megabytes(peakKiB), cpuPercent };
  } finally {
    cluster.world.cloud.setGate(() => undefined);
    await operator.stop();
  }
}
