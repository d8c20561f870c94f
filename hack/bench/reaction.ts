import { setTimeout as sleep } from 'node:timers/promises';
import { nodeIdentity, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { operatorBundle } from '../operatorBundle.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { type Floor, startFloor } from './floor.ts';
import { sendHeartbeats } from './heartbeats.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { settle } from './noise.ts';
import { preparePools, watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { percentile, round } from './statistics.ts';
import { type View, view } from './view.ts';

const NODES = 10_000;
const GROUPS = 10;
const RATE = 300;
const SAMPLES = 200;
const WARM_UP_SAMPLES = 20;
/** Each pool is changed every two seconds, so that no write waits for the previous one. */
const GAP_MS = 200;
const GOAL_P99_MS = 100;
const LIMIT_MS = 30_000;
const MARK = 'bench.winpool.dev/reaction';

/** The time from a change of one node to the status of its pool. */
export const reaction: Section = {
  name: 'reaction',
  what: `from a relevant change of one node among ${NODES}, under ${RATE} heartbeats a second, to the written status`,
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(NODES, GROUPS);
    const bundle = await operatorBundle();
    await preparePools(cluster, bundle);
    const operator = await BenchOperator.start(cluster, bundle, { flags: ['--leader-elect=false'] });
    const fixture = await prepare(cluster, bench.signal);
    const kubelets = await cluster.anotherClient();
    const quiet = new AbortController();
    const ending = AbortSignal.any([quiet.signal, bench.signal]);
    try {
      await settle(operator);
      const still = await sample(fixture, SAMPLES / 4);
      const heartbeats = sendHeartbeats(cluster, { rate: RATE, seconds: 600 }, ending, kubelets);
      const noisy = await sample(fixture, SAMPLES);
      quiet.abort();
      const sent = await heartbeats;
      const rows = [
        { noise: 0, ...figures(still) },
        { noise: Math.round(sent.count / sent.seconds), ...figures(noisy) },
      ];
      const p99 = percentile(
        noisy.map(({ ms }) => ms),
        0.99,
      );
      return {
        how: `a node's revision changes; from the watch event of the node to the watch event of its pool's status, as a third process sees them; withPatch: from sending the node's patch; floor: a write of one ConfigMap and its event, in turns with it; pools of ${NODES / GROUPS} nodes`,
        rows,
        marks: [{ name: 'p99 under noise in ms', value: round(p99, 1), limit: GOAL_P99_MS }],
      };
    } finally {
      quiet.abort();
      await Promise.all([fixture.pools.stop(), fixture.nodes.stop(), fixture.floor.stop(), kubelets.close()]);
      await operator.stop();
    }
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
async function prepare(cluster: BenchCluster, signal: AbortSignal): Promise<Fixture> {
  for (let node = 0; node < GROUPS; node++) await cluster.patch(node, { metadata: { labels: { [MARK]: 'true' } } });
  const nodes = view('nodes', nodeListWatch(cluster.admin, MARK), nodeIdentity);
  return { cluster, pools: watchPools(cluster), nodes, floor: await startFloor(cluster, signal) };
}

interface Sample {
  /** From the event of the node to the event of its pool's status. */
  readonly ms: number;
  /** From sending the patch of the node to the event of the status. */
  readonly totalMs: number;
  /** A small write and its event, right after it. */
  readonly floorMs: number;
}

function figures(samples: readonly Sample[]) {
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

/** This number of reactions, after some that are not counted. */
async function sample(fixture: Fixture, count: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let index = -WARM_UP_SAMPLES; index < count; index++) {
    // The first node of each group, again and again.
    const one = await react(fixture, (index + WARM_UP_SAMPLES) % GROUPS);
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
  const written = pools.until(`the status of a pool says ${kernel}`, says(groupName(node, GROUPS), kernel), LIMIT_MS);
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
