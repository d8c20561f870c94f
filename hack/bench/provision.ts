import { type CallEntry, nodeGroupIn } from '../../test/fakes/localaws/wire/callLog.ts';
import { isServed, serviceOf } from '../../test/fakes/localaws/wire/calls.ts';
import { BenchOperator } from './benchOperator.ts';
import { AT_ONCE, createEmptyPools, deleteEmptyPools } from './emptyPools.ts';
import { figureOf, rounded } from './figures.ts';
import { megabytes } from './processFigures.ts';
import type { Bench, Result, Section } from './section.ts';
import { median } from './statistics.ts';

interface Settings {
  readonly pools: number;
  readonly runs: number;
  readonly nodes: number;
  readonly groups: number;
}

const FULL: Settings = { pools: 50, runs: 7, nodes: 0, groups: 10 };
const SMALL: Settings = { pools: 3, runs: 1, nodes: 4, groups: 2 };
/** That of the other sections. */
const NORMAL_SPEED = 10;
/** DescribeNodegroup finds no group, CreateNodegroup, and DescribeNodegroup finds it ACTIVE. */
const CALLS_PER_POOL = 3;
/** The first poll comes a second after the creation. */
const GOAL_SECONDS = 3;
const GOAL_MB = 95;

interface Run {
  readonly readyMs: number;
  readonly rssMB: number;
  readonly calls: readonly CallEntry[];
}

/** Many pools at once. */
export const provision: Section = {
  name: 'provision',
  what: `${FULL.pools} pools applied at once: time until all are Ready, and calls to AWS`,
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const { pools } = settings;
    const runs: Run[] = [];
    for (let run = 0; run < settings.runs; run++) runs.push(await once(bench, settings));
    const of = (figure: (run: Run) => number) => median(runs.map(figure));
    const count = (matches: (call: CallEntry) => boolean) => of(({ calls }) => calls.filter(matches).length);
    const operations = [...new Set(runs.flatMap(({ calls }) => calls.map(({ operation }) => operation)))];
    return {
      how: `medians of ${settings.runs} runs, with the default flags; from kubectl apply of one list to the last pool's Ready=True; AWS answers ACTIVE at once`,
      rows: operations
        .map((operation) => {
          const calls = count((call) => call.operation === operation);
          return { service: serviceNamed(operation), operation, calls, perPool: rounded(calls / pools) };
        })
        .sort((a, b) => `${a.service} ${a.operation}`.localeCompare(`${b.service} ${b.operation}`)),
      figures: [
        figureOf(
          {
            name: `${pools} pools created with one kubectl apply, default flags, EKS answers ACTIVE at once: time until the last pool is Ready`,
            unit: 's',
            goal: GOAL_SECONDS,
          },
          runs.map(({ readyMs }) => readyMs / 1_000),
        ),
        figureOf(
          { name: 'EKS calls about the node group of each of these pools', unit: '', goal: CALLS_PER_POOL },
          runs.map(({ calls }) => calls.filter(isOfPool).length / pools),
        ),
        figureOf(
          { name: 'EKS calls about the cluster, for all of these pools', unit: '', goal: Math.ceil(pools / 10) },
          runs.map(
            ({ calls }) => calls.filter((call) => serviceNamed(call.operation) === 'eks' && !isOfPool(call)).length,
          ),
        ),
        figureOf(
          { name: `memory (RSS) after the creation of ${pools} pools`, unit: 'MB', goal: GOAL_MB },
          runs.map(({ rssMB }) => rssMB),
        ),
      ],
    };
  },
};

const isOfPool = (call: CallEntry) => nodeGroupIn(call) !== undefined;

function serviceNamed(operation: string): string {
  return isServed(operation) ? serviceOf(operation) : 'unknown';
}

async function once(bench: Bench, settings: Settings): Promise<Run> {
  const cluster = await bench.cluster(settings.nodes, settings.groups);
  const { cloud } = cluster.world;
  cloud.faults.speed({ speed: AT_ONCE });
  await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
  try {
    const readyMs = await createEmptyPools(cluster, settings.pools, { begin: () => cloud.resetCalls() });
    const calls = cloud.calls();
    const rssMB = megabytes(operator.memory.rssKiB);
    await deleteEmptyPools(cluster, settings.pools);
    return { readyMs, rssMB, calls };
  } finally {
    cloud.faults.speed({ speed: NORMAL_SPEED });
  }
}
