import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { operatorBundle } from '../operatorBundle.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { settle } from './noise.ts';
import { preparePools, watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { median, round } from './statistics.ts';
import type { View } from './view.ts';
import { forEachOf } from './workers.ts';

const NODES = 10_000;
const GROUPS = 10;
const CHANGED = NODES / GROUPS;
const WRITERS = 24;
const RUNS = 5;
const LIMIT_MS = 60_000;
/** Different from the revisions in reaction.ts. */
const FIRST_REVISION = REVISION + 10_000;

interface Storm {
  readonly changesMs: number;
  readonly convergedMs: number;
  readonly writes: number;
}

/** All nodes of a pool change at once. */
export const storm: Section = {
  name: 'storm',
  what: `${CHANGED} nodes of one pool change as fast as the API server takes it: writes, time until the status is right`,
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(NODES, GROUPS);
    const bundle = await operatorBundle();
    await preparePools(cluster, bundle);
    const operator = await BenchOperator.start(cluster, bundle, { flags: ['--leader-elect=false'] });
    const pools = watchPools(cluster);
    try {
      await settle(operator);
      const storms: Storm[] = [];
      for (let run = 0; run < RUNS; run++) {
        storms.push(await once(cluster, pools, kernelVersion(FIRST_REVISION + run)));
        await settle(operator);
      }
      const middle = (pick: (storm: Storm) => number) => median(storms.map(pick));
      const seconds = middle(({ changesMs }) => changesMs) / 1_000;
      const writes = middle((run) => run.writes);
      const row = {
        changes: CHANGED,
        changesMs: Math.round(seconds * 1_000),
        statusWrites: writes,
        convergedMs: Math.round(middle(({ convergedMs }) => convergedMs)),
      };
      return {
        how: `medians of ${RUNS}; every node's revision changes; converged: from the last change's answer to the watch event of a status that counts every node right`,
        rows: [row],
        // One at the start, one for each second after it, and one at the end.
        marks: [{ name: 'status writes', value: round(writes), limit: Math.ceil(seconds) + 2 }],
      };
    } finally {
      await pools.stop();
      await operator.stop();
    }
  },
};

async function once(cluster: BenchCluster, pools: View<WindowsPool>, kernel: string): Promise<Storm> {
  const name = groupName(0, GROUPS);
  let writes = 0;
  await pools.store.synced;
  using _counter = pools.store.subscribe(({ key, before, after }) => {
    if (key === name && before && after && before.metadata.resourceVersion !== after.metadata.resourceVersion) writes++;
  });
  const right = (pools: readonly WindowsPool[]) =>
    isRight(
      pools.find(({ metadata }) => metadata.name === name),
      kernel,
    );
  const started = performance.now();
  const converged = pools.until(`the status counts ${CHANGED} nodes of ${kernel}`, right, LIMIT_MS);
  const changes = forEachOf(CHANGED, WRITERS, (index) =>
    cluster.patchStatus(index * GROUPS, { nodeInfo: { kernelVersion: kernel } }),
  ).then(() => performance.now());
  const [ended, at] = await Promise.all([changes, converged]);
  return { changesMs: ended - started, convergedMs: at - ended, writes };
}

function isRight(pool: WindowsPool | undefined, kernel: string): boolean {
  const { builds = [], nodes } = pool?.status ?? {};
  const [only] = builds;
  return builds.length === 1 && only?.kernelVersion === kernel && only.nodes === CHANGED && nodes?.verified === CHANGED;
}
