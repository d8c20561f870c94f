import { type CallEntry, nodeGroupIn } from '../localaws/wire/callLog.ts';
import { isServed, serviceOf } from '../localaws/wire/calls.ts';
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
/** EKS completes everything at once, so that only the time of the operator is measured. */
const SPEED = 10_000;
/** DescribeNodegroup finds no group, CreateNodegroup, and DescribeNodegroup finds it ACTIVE. */
const CALLS_PER_POOL = 3;
/** The first poll comes a second after the creation. */
const GOAL_MS = 3_000;

interface Run {
  readonly readyMs: number;
  readonly rssMB: number;
  readonly calls: readonly CallEntry[];
}

/** Many pools at once. */
export const provision: Section = {
  name: 'provision',
  what: `${POOLS} pools applied at once: time until all are Ready, and calls to AWS`,
  run: async (bench): Promise<Result> => {
    const runs: Run[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await once(bench));
    const of = (figure: (run: Run) => number) => median(runs.map(figure));
    const count = (matches: (call: CallEntry) => boolean) => of(({ calls }) => calls.filter(matches).length);
    const operations = [...new Set(runs.flatMap(({ calls }) => calls.map(({ operation }) => operation)))];
    const readyMs = Math.round(of((run) => run.readyMs));
    const perPool = round(count(isOfPool) / POOLS);
    return {
      how: `medians of ${RUNS}, with the default flags; from kubectl apply of one list to the last pool's Ready=True; AWS answers ACTIVE at once; resident memory ${round(of(({ rssMB }) => rssMB))} MB`,
      rows: operations
        .map((operation) => {
          const calls = count((call) => call.operation === operation);
          return { service: serviceNamed(operation), operation, calls, perPool: round(calls / POOLS) };
        })
        .sort((a, b) => `${a.service} ${a.operation}`.localeCompare(`${b.service} ${b.operation}`)),
      marks: [
        { name: `milliseconds until ${POOLS} pools are Ready`, value: readyMs, limit: GOAL_MS },
        { name: 'EKS calls about the node group of each pool', value: perPool, limit: CALLS_PER_POOL },
        {
          name: 'EKS calls about the cluster, for all pools',
          value: count((call) => serviceNamed(call.operation) === 'eks' && !isOfPool(call)),
          limit: POOLS / 10,
        },
      ],
    };
  },
};

const isOfPool = (call: CallEntry) => nodeGroupIn(call) !== undefined;

function serviceNamed(operation: string): string {
  return isServed(operation) ? serviceOf(operation) : 'unknown';
}

async function once(bench: Bench): Promise<Run> {
  const cluster = await bench.cluster(0, 1);
  const { cloud } = cluster.world;
  const bundle = await operatorBundle();
  const names = emptyPoolNames(POOLS);
  const pools = watchPools(cluster);
  cloud.faults.speed({ speed: SPEED });
  const operator = await BenchOperator.start(cluster, bundle, { flags: ['--leader-elect=false'] });
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
    const calls = cloud.calls();
    const rssMB = megabytes(operator.memory.rssKiB);
    await deleteEmptyPools(cluster, names);
    return { readyMs: at - started, rssMB, calls };
  } finally {
    await pools.stop();
    await operator.stop();
  }
}
