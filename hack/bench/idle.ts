import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../controlplane/wait.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { figureOf } from './figures.ts';
import { megabytes } from './processFigures.ts';
import type { Result, Section } from './section.ts';
import { median, round } from './statistics.ts';

const FULL = { nodes: 3, groups: 1, runs: 7, restSeconds: 8 };
const SMALL = { nodes: 1, groups: 1, runs: 1, restSeconds: 1 };
const GOAL = { rssMB: 75, firstReconcileMs: 250 };
const CALL_MS = 30_000;

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
    const settings = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(settings.nodes, settings.groups);
    const runs: Run[] = [];
    for (let run = 0; run < settings.runs; run++) runs.push(await once(cluster, settings.restSeconds, bench.signal));
    const middle = (pick: (run: Run) => number, digits = 0) => round(median(runs.map(pick)), digits);
    const row = {
      readyMs: middle((run) => run.readyMs),
      firstReconcileMs: middle((run) => run.firstReconcileMs),
      rssMB: middle((run) => run.rssMB, 1),
      peakMB: middle((run) => run.peakMB, 1),
      cpuPercent: middle((run) => run.cpuPercent, 2),
    };
    return {
      how: `medians of ${settings.runs} starts; one Ready pool of ${settings.nodes} nodes, flags as shipped; first reconcile: its first call arrives at AWS, which is later than its begin; the rest lasts ${settings.restSeconds} s`,
      rows: [row],
      figures: [
        figureOf(
          { name: 'memory (RSS) at rest, one small pool, metrics over TLS', unit: 'MB', goal: GOAL.rssMB },
          runs.map(({ rssMB }) => rssMB),
        ),
        figureOf(
          { name: 'process start until the first reconcile calls AWS', unit: 'ms', goal: GOAL.firstReconcileMs },
          runs.map(({ firstReconcileMs }) => firstReconcileMs),
        ),
      ],
    };
  },
};

async function once(cluster: BenchCluster, restSeconds: number, signal: AbortSignal): Promise<Run> {
  const { promise: called, resolve } = Promise.withResolvers<number>();
  cluster.world.cloud.setGate(() => resolve(performance.now()));
  // As shipped: the other sections read its metrics without TLS.
  await using operator = await BenchOperator.start(cluster, { flags: ['--metrics-secure=true'] });
  try {
    const readyMs = performance.now() - operator.started;
    const firstReconcileMs = (await withDeadline(called, 'the first call to AWS', CALL_MS)) - operator.started;
    await sleep(restSeconds * 1_000, undefined, { signal });
    const cpu = operator.cpuSeconds;
    await sleep(restSeconds * 1_000, undefined, { signal });
    const { rssKiB, peakKiB } = operator.memory;
    const cpuPercent = ((operator.cpuSeconds - cpu) * 100) / restSeconds;
    return { readyMs, firstReconcileMs, rssMB: megabytes(rssKiB), peakMB: megabytes(peakKiB), cpuPercent };
  } finally {
    cluster.world.cloud.setGate(() => undefined);
  }
}
