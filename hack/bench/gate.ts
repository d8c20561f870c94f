import { setTimeout as sleep } from 'node:timers/promises';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { nodeName } from '../../controllers/kubernetes/testing/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { GATE_TAINT, isGated } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { conditionOf } from '../../test/fakes/testenv/testEnv.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Figure, figureOf } from './figures.ts';
import { type Floor, startFloor } from './floor.ts';
import { loadOf, underHeartbeats } from './heartbeats.ts';
import { groupName } from './nodeObject.ts';
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
  readonly gapMs: number;
}

const FULL: Settings = {
  ...{ nodes: 10_000, groups: 10, samples: 30, rounds: 7, warmUpSamples: 5, gapMs: 100 },
  loads: [{ rate: 0 }, { rate: 33, goal: 30 }, { rate: 300, goal: 60 }],
};
const SMALL: Settings = {
  ...{ nodes: 20, groups: 2, samples: 2, rounds: 1, warmUpSamples: 1, gapMs: 100 },
  loads: [{ rate: 0 }, { rate: 20 }],
};
const GOAL_P99_MS = 250;
const LIMIT_MS = 30_000;
const LOAD_SECONDS = 1_200;
const MARK = 'bench.winpool.dev/gate';

/** How long a new node that passes every check keeps the gate taint. */
export const gate: Section = {
  name: 'gate',
  what: `from the registration of a node among ${FULL.nodes}, without and with heartbeats, to its release from the gate`,
  limitMs: 20 * 60_000,
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(settings.nodes, settings.groups);
    await using operator = await BenchOperator.start(cluster, {
      flags: ['--leader-elect=false', '--poll-interval=300ms'],
    });
    await using nodes = view('nodes', nodeListWatch(cluster.admin, MARK), nodeIdentity);
    await using pools = watchPools(cluster);
    await using floor = await startFloor(cluster, bench.signal);
    await setPolicy(cluster, pools, 'Gate', bench.signal);
    await settle(operator, bench);
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const { rate, goal } of settings.loads) {
      const { result: samples, sent } = await underHeartbeats(
        cluster,
        { rate, seconds: LOAD_SECONDS },
        bench.signal,
        () => sample({ cluster, nodes, floor }, settings),
      );
      rows.push({ heartbeats: sent, ...summaryOf(samples) });
      figures.push(...figuresOf(rate, partsOf(samples, settings.samples), goal));
    }
    await setPolicy(cluster, pools, 'Report', bench.signal);
    return {
      how: `a node is created Ready, complete and with the taint of the gate, after its instance; from the watch event of its creation to that of its release, as a third process sees them. In between, the operator reads the scaling groups, whose list is older than the node; floor: a write of one ConfigMap and its event, in turns with it; the p99 of a figure is the worst of a round of ${settings.samples}`,
      rows,
      figures,
    };
  },
};

/** Later sections expect the pool in its original state. */
async function setPolicy(
  { admin, groups }: BenchCluster,
  pools: View<WindowsPool>,
  policy: WindowsPool['spec']['verification']['policy'],
  signal: AbortSignal,
): Promise<void> {
  const body = { spec: { verification: { policy } } };
  const name = groupName(0, groups);
  const path = `/apis/winpool.dev/v1alpha1/windowspools/${name}`;
  const { metadata } = await admin.request<WindowsPool>('PATCH', path, { body, contentType: PATCH.merge, signal });
  const isDone = (pool: WindowsPool) =>
    pool.metadata.name === name &&
    pool.status?.observedGeneration === metadata.generation &&
    conditionOf(pool, 'UpToDate') === 'True/MatchesSpec';
  await pools.until(`${name} has the policy ${policy}`, (all) => all.some(isDone), LIMIT_MS);
}

interface Sample {
  /** From the event of the node to the event of its release. */
  readonly ms: number;
  /** A small write and its event, after it. */
  readonly floorMs: number;
}

function summaryOf(samples: readonly Sample[]) {
  const at = (share: number) =>
    round(
      percentile(
        samples.map(({ ms }) => ms),
        share,
      ),
      1,
    );
  const floorP99Ms = round(
    percentile(
      samples.map(({ floorMs }) => floorMs),
      0.99,
    ),
    1,
  );
  return { samples: samples.length, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), worstMs: at(1), floorP99Ms };
}

function figuresOf(rate: number, rounds: readonly (readonly Sample[])[], goal: number | undefined): Figure[] {
  const name = `gated node joins until its taint is removed, ${loadOf(rate)}: p99`;
  const summaries = rounds.map(summaryOf);
  return [
    figureOf(
      { name, unit: 'ms', goal: GOAL_P99_MS },
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
  readonly nodes: View<NodeRecord>;
  readonly floor: Floor;
}

/** Releases, after some that are not counted. */
async function sample({ cluster, nodes, floor }: Fixture, settings: Settings): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let index = -settings.warmUpSamples; index < settings.samples * settings.rounds; index++) {
    const ms = await release(cluster, nodes);
    await sleep(settings.gapMs);
    const one = { ms, floorMs: await floor.measure() };
    if (index >= 0) samples.push(one);
  }
  return samples;
}

/** Returns the milliseconds until the release. */
async function release(cluster: BenchCluster, nodes: View<NodeRecord>): Promise<number> {
  // The first number beyond the others that is in the pool.
  const index = cluster.nodes;
  const name = nodeName(index);
  const has = (predicate: (node: NodeRecord) => boolean) => (all: readonly NodeRecord[]) =>
    all.some((node) => node.name === name && predicate(node));
  const joined = nodes.until(`${name} joins`, has(isGated), LIMIT_MS);
  const created = cluster.createNode(index, { labels: { [MARK]: 'true' }, taints: [GATE_TAINT] });
  const [joinedAt] = await Promise.all([joined, created]);
  const releasedAt = await nodes.until(
    `${name} is released`,
    has((node) => !isGated(node)),
    LIMIT_MS,
  );
  const gone = nodes.until(`${name} is gone`, (all) => all.length === 0, LIMIT_MS);
  await Promise.all([cluster.deleteNode(index), gone]);
  return releasedAt - joinedAt;
}
