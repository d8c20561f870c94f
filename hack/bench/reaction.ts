import { setTimeout as sleep } from 'node:timers/promises';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { prepareBaseline } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Floor, startFloor } from './floor.ts';
import { type LatencySettings, measureLatency, type Sample } from './latency.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { settle } from './noise.ts';
import { watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { percentile, round } from './statistics.ts';
import { type View, view } from './view.ts';

interface Settings extends LatencySettings {
  readonly nodes: number;
  readonly groups: number;
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
const MARK = 'bench.winpool.dev/reaction';

/** The time from a change of one node to the status of its pool. */
export const reaction: Section = {
  name: 'reaction',
  what: `from a relevant change of one node among ${FULL.nodes}, without and with heartbeats, to the written status`,
  limitMs: 20 * 60_000,
  prepare: prepareBaseline,
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
    const take = async (index: number) => {
      // The first node of each group, again and again.
      const one = await react(fixture, (index + settings.warmUpSamples) % settings.groups);
      await sleep(Math.max(0, GAP_MS - one.totalMs));
      return one;
    };
    const more = (samples: readonly Reaction[]) => ({
      withPatchP99Ms: round(
        percentile(
          samples.map(({ totalMs }) => totalMs),
          0.99,
        ),
        1,
      ),
    });
    const latency = { name: 'change of a node until the status is written', take, more };
    const { rows, figures } = await measureLatency(cluster, settings, latency, bench);
    return {
      how: `a node's revision changes; from the watch event of the node to the watch event of its pool's status, as a third process sees them; withPatch: from sending the node's patch; floor: a write of one ConfigMap and its event, in turns with it; the p99 of a figure is the worst of a round of ${settings.samples}; pools of ${settings.nodes / settings.groups} nodes`,
      rows,
      figures,
    };
  },
};

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

/** From the event of the node to the event of its pool's status. */
interface Reaction extends Sample {
  /** From sending the patch of the node to the event of the status. */
  readonly totalMs: number;
}

let revision = REVISION;

async function react({ cluster, pools, nodes, floor }: Fixture, node: number): Promise<Reaction> {
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
