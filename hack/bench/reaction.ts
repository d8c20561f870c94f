import { setTimeout as sleep } from 'node:timers/promises';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Figure, figureOf } from './figures.ts';
import { type Floor, startFloor } from './floor.ts';
import { loadOf, underHeartbeats } from './heartbeats.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { settle } from './noise.ts';
import { watchPools } from './pools.ts';
import type { Result, Row, Section } from './section.ts';
import { partsOf, percentile, round } from './statistics.ts';
import { type View, view } from './view.ts';

interface Settings {
  readonly nodes: number;
  readonly groups: number;
  /** Heartbeats per second, and the greatest p99 beyond the floor in milliseconds. */
  readonly loads: readonly { readonly rate: number; readonly goal?: number }[];
  /** Of each of the rounds. */
  readonly samples: number;
  readonly rounds: number;
  readonly warmUpSamples: number;
}

const FULL: Settings = {
  ...{ nodes: 10_000, groups: 10, samples: 60, rounds: 7, warmUpSamples: 20 },
  // 33: real kubelets, every 5 minutes each.
  loads: [{ rate: 0 }, { rate: 33, goal: 30 }, { rate: 300, goal: 60 }],
};
const SMALL: Settings = {
  ...{ nodes: 20, groups: 2, samples: 3, rounds: 1, warmUpSamples: 1 },
  loads: [{ rate: 0 }, { rate: 20 }],
};
/** Each pool is changed every two seconds, so that no write waits for the previous one. */
const GAP_MS = 200;
const LIMIT_MS = 30_000;
const LOAD_SECONDS = 1_200;
const MARK = 'bench.winpool.dev/reaction';

/** The time from a change of one node to the status of its pool. */
export const reaction: Section = {
  name: 'reaction',
  what: `from a relevant change of one node among ${FULL.nodes}, without and with heartbeats, to the written status`,
  limitMs: 20 * 60_000,
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(settings.nodes, settings.groups);
    await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
    await markNodes(cluster);
    await using pools = watchPools(cluster);
    await using nodes = view('nodes', nodeListWatch(cluster.admin, MARK), nodeIdentity);
    await using floor = await startFloor(cluster, bench.signal);
    const fixture = { cluster, pools, nodes, floor };
    await settle(operator, bench);
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const { rate, goal } of settings.loads) {
      const { result: samples, sent } = await underHeartbeats(
        cluster,
        { rate, seconds: LOAD_SECONDS },
        bench.signal,
        () => sample(fixture, settings),
      );
      rows.push({ heartbeats: sent, ...summaryOf(samples) });
      figures.push(...figuresOf(rate, partsOf(samples, settings.samples), goal));
    }
    return {
      how: `a node's revision changes; from the watch event of the node to the watch event of its pool's status, as a third process sees them; withPatch: from sending the node's patch; floor: a write of one ConfigMap and its event, in turns with it; the p99 of a figure is the worst of a round of ${settings.samples}; pools of ${settings.nodes / settings.groups} nodes`,
      rows,
      figures,
    };
  },
};

function figuresOf(rate: number, rounds: readonly (readonly Sample[])[], goal: number | undefined): Figure[] {
  const name = `change of a node until the status is written, ${loadOf(rate)}: p99`;
  const summaries = rounds.map(summaryOf);
  return [
    figureOf(
      { name, unit: 'ms' },
      summaries.map(({ p99Ms }) => p99Ms),
    ),
    figureOf(
      { name: `${name} beyond that of a watch event alone`, unit: 'ms', ...(goal !== undefined && { goal }) },
      summaries.map(({ p99Ms, floorP99Ms }) => Math.max(0, p99Ms - floorP99Ms)),
    ),
  ];
}

interface Fixture {
  readonly cluster: BenchCluster;
  readonly pools: View<WindowsPool>;
  /** The changed nodes. */
  readonly nodes: View<NodeRecord>;
  readonly floor: Floor;
}

/** Marks the nodes that are changed, so that a watch of them alone can tell when they did. */
async function markNodes(cluster: BenchCluster): Promise<void> {
  for (let node = 0; node < cluster.groups; node++)
    await cluster.patch(node, { metadata: { labels: { [MARK]: 'true' } } });
}

interface Sample {
  /** From the event of the node to the event of its pool's status. */
  readonly ms: number;
  /** From sending the patch of the node to the event of the status. */
  readonly totalMs: number;
  /** A small write and its event, right after it. */
  readonly floorMs: number;
}

function summaryOf(samples: readonly Sample[]) {
  const at = (share: number, pick: (sample: Sample) => number) => round(percentile(samples.map(pick), share), 1);
  const [ms, floorMs] = [(sample: Sample) => sample.ms, (sample: Sample) => sample.floorMs];
  return {
    samples: samples.length,
    p50Ms: at(0.5, ms),
    p90Ms: at(0.9, ms),
    p99Ms: at(0.99, ms),
    worstMs: at(1, ms),
    withPatchP99Ms: at(0.99, ({ totalMs }) => totalMs),
    floorP50Ms: at(0.5, floorMs),
    floorP99Ms: at(0.99, floorMs),
  };
}

let revision = REVISION;

/** Reactions, after some that are not counted. */
async function sample(fixture: Fixture, settings: Settings): Promise<Sample[]> {
  const { warmUpSamples, groups } = settings;
  const samples: Sample[] = [];
  for (let index = -warmUpSamples; index < settings.samples * settings.rounds; index++) {
    // The first node of each group, again and again.
    const one = await react(fixture, (index + warmUpSamples) % groups);
    if (index >= 0) samples.push(one);
    await sleep(Math.max(0, GAP_MS - one.totalMs));
  }
  return samples;
}

async function react({ cluster, pools, nodes, floor }: Fixture, node: number): Promise<Sample> {
  const kernel = kernelVersion(++revision);
  const started = performance.now();
  const changed = nodes.until(
    `a node runs ${kernel}`,
    (all) => all.some((one) => one.kernelVersion === kernel),
    LIMIT_MS,
  );
  const written = pools.until(
    `the status of a pool says ${kernel}`,
    says(groupName(node, cluster.groups), kernel),
    LIMIT_MS,
  );
  const patched = cluster.patchStatus(node, { nodeInfo: { kernelVersion: kernel } });
  const [changedAt, writtenAt] = await Promise.all([changed, written, patched]);
  return { ms: Math.max(0, writtenAt - changedAt), totalMs: writtenAt - started, floorMs: await floor.measure() };
}

function says(pool: string, kernel: string): (pools: readonly WindowsPool[]) => boolean {
  return (pools) => {
    const { status } = pools.find(({ metadata }) => metadata.name === pool) ?? {};
    return status?.builds?.some(({ kernelVersion: found }) => found === kernel) ?? false;
  };
}
