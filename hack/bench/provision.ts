import { operatorBundle } from '../operatorBundle.ts';
import { BenchOperator } from './benchOperator.ts';
import { applyEmptyPools, deleteEmptyPools, emptyPoolNames } from './emptyPools.ts';
import { isReady, watchPools } from './pools.ts';
import { megabytes } from './processFigures.ts';
import type { Bench, Result, Section } from './section.ts';
import { median, round } from './statistics.ts';

const POOLS = 50;
const RUNS = 5;
const READY_MS = 120_000;
/** EKS does everything at once, so that only the operator takes time. */
const SPEED = 10_000;
/** A peer in Go that manages node groups made four calls for each. */
const GOAL = { CreateNodegroup: 1, DescribeNodegroup: 2 } as const;

interface Run {
  readonly readyMs: number;
  readonly rssMB: number;
  /** Calls to AWS by operation. */
  readonly calls: ReadonlyMap<string, number>;
}

/** Many pools at once. */
export const provision: Section = {
  name: 'provision',
  what: `${POOLS} pools applied at once: time until all are Ready, and calls to AWS for each`,
  run: async (bench): Promise<Result> => {
    const runs: Run[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await once(bench));
    const operations = [...new Set(runs.flatMap(({ calls }) => [...calls.keys()]))].sort();
    const perPool = (operation: string) => round(median(runs.map(({ calls }) => calls.get(operation) ?? 0)) / POOLS);
    const row = {
      pools: POOLS,
      readyMs: Math.round(median(runs.map(({ readyMs }) => readyMs))),
      rssMB: round(median(runs.map(({ rssMB }) => rssMB)), 1),
      ...Object.fromEntries(operations.map((operation) => [operation, perPool(operation)])),
    };
    return {
      how: `medians of ${RUNS}; from kubectl apply of one list to the last pool's Ready=True; AWS answers ACTIVE at once; calls are those of the operation for each pool; at most 20 calls to AWS a second, as shipped, and a look at a group after five seconds, where shipped are twenty`,
      rows: [row],
      marks: Object.entries(GOAL).map(([operation, limit]) => ({
        name: `${operation} for each pool`,
        value: perPool(operation),
        limit,
      })),
    };
  },
};

async function once(bench: Bench): Promise<Run> {
  const cluster = await bench.cluster(0, 1);
  const { cloud } = cluster.world;
  const bundle = await operatorBundle();
  const names = emptyPoolNames(POOLS);
  const pools = watchPools(cluster);
  cloud.faults.speed({ speed: SPEED });
  const operator = await BenchOperator.start(cluster, bundle, {
    flags: ['--leader-elect=false', '--poll-interval=5s'],
  });
  try {
    await pools.store.synced;
    cloud.resetCalls();
    const started = performance.now();
    const ready = pools.until(
      `${POOLS} pools are Ready`,
      (all) => all.filter((pool) => names.includes(pool.metadata.name) && isReady(pool)).length === POOLS,
      READY_MS,
    );
    const [at] = await Promise.all([ready, applyEmptyPools(cluster, names)]);
    const calls = new Map<string, number>();
    for (const { operation } of cloud.calls()) calls.set(operation, (calls.get(operation) ?? 0) + 1);
    const rssMB = megabytes(operator.memory.rssKiB);
    await deleteEmptyPools(cluster, names);
    return { readyMs: at - started, rssMB, calls };
  } finally {
    await pools.stop();
    await operator.stop();
  }
}
