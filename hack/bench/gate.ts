import { setTimeout as sleep } from 'node:timers/promises';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { nodeName } from '../../controllers/kubernetes/testing/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { GATE_TAINT, isGated } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { conditionOf } from '../../test/fakes/testenv/testEnv.ts';
import { prepareBaseline } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { startFloor } from './floor.ts';
import { type LatencySettings, measureLatency } from './latency.ts';
import { groupName } from './nodeObject.ts';
import { settle } from './noise.ts';
import { watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { type View, view } from './view.ts';

interface Settings extends LatencySettings {
  readonly nodes: number;
  readonly groups: number;
}

const FULL: Settings = {
  ...{ nodes: 10_000, groups: 10, samples: 30, rounds: 7, warmUpSamples: 5 },
  loads: [{ rate: 0 }, { rate: 33, goal: 30 }, { rate: 300, goal: 60 }],
};
const SMALL: Settings = {
  ...{ nodes: 20, groups: 2, samples: 2, rounds: 1, warmUpSamples: 1 },
  loads: [{ rate: 0 }, { rate: 20 }],
};
const GOAL_P99_MS = 250;
const LIMIT_MS = 30_000;
const GAP_MS = 100;
const MARK = 'bench.winpool.dev/gate';

/** How long a new node that passes every check keeps the gate taint. */
export const gate: Section = {
  name: 'gate',
  what: `from the registration of a node among ${FULL.nodes}, without and with heartbeats, to its release from the gate`,
  limitMs: 20 * 60_000,
  prepare: prepareBaseline,
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
    const take = async () => {
      const ms = await release(cluster, nodes);
      await sleep(GAP_MS);
      return { ms, floorMs: await floor.measure() };
    };
    const latency = { name: 'gated node joins until its taint is removed', goal: GOAL_P99_MS, take };
    const { rows, figures } = await measureLatency(cluster, settings, latency, bench);
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

/** Returns the milliseconds from the event of the node to the event of its release. */
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
