import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { figureOf, noneOf } from './figures.ts';
import { groupName, kernelVersion, REVISION } from './nodeObject.ts';
import { settle } from './noise.ts';
import { watchPools } from './pools.ts';
import type { Result, Section } from './section.ts';
import { median } from './statistics.ts';
import type { View } from './view.ts';
import { forEachOf } from './workers.ts';

const FULL = { nodes: 10_000, groups: 10, runs: 7 };
const SMALL = { nodes: 20, groups: 2, runs: 1 };
const WRITERS = 24;
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
  what: `${FULL.nodes / FULL.groups} nodes of one pool change as fast as the API server takes it: writes, time until the status is right`,
  run: async (bench): Promise<Result> => {
    const { nodes, groups, runs } = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(nodes, groups);
    await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
    await using pools = watchPools(cluster);
    await settle(operator, bench);
    const storms: Storm[] = [];
    for (let run = 0; run < runs; run++) {
      storms.push(await once(cluster, pools, kernelVersion(FIRST_REVISION + run)));
      await settle(operator, bench);
    }
    const middle = (pick: (storm: Storm) => number) => Math.round(median(storms.map(pick)));
    const changed = nodes / groups;
    const name = `${changed.toLocaleString('en')} nodes of a pool change at the same time`;
    return {
      how: `medians of ${runs} runs; every node's revision changes; converged: from the last change's answer to the watch event of a status that counts every node right`,
      rows: [
        {
          changed,
          changesMs: middle(({ changesMs }) => changesMs),
          statusWrites: middle(({ writes }) => writes),
          convergedMs: middle(({ convergedMs }) => convergedMs),
        },
      ],
      figures: [
        // One at the start, one for each second after it, and one at the end.
        noneOf(
          `${name}: status writes beyond one per second`,
          Math.max(0, ...storms.map(({ writes, changesMs }) => writes - Math.ceil(changesMs / 1_000) - 2)),
        ),
        figureOf(
          { name: `${name}: status writes`, unit: '' },
          storms.map(({ writes }) => writes),
        ),
        figureOf(
          { name: `${name}: time until the status is correct`, unit: 's', goal: 1 },
          storms.map(({ convergedMs }) => convergedMs / 1_000),
        ),
      ],
    };
  },
};

async function once(cluster: BenchCluster, pools: View<WindowsPool>, kernel: string): Promise<Storm> {
  const name = groupName(0, cluster.groups);
  const changed = cluster.nodes / cluster.groups;
  let writes = 0;
  await pools.listed();
  using _counter = pools.store.subscribe(({ key, before, after }) => {
    if (key === name && before && after && before.metadata.resourceVersion !== after.metadata.resourceVersion) writes++;
  });
  const right = (pools: readonly WindowsPool[]) =>
    isRight(
      pools.find(({ metadata }) => metadata.name === name),
      kernel,
      changed,
    );
  const started = performance.now();
  const converged = pools.until(`the status counts ${changed} nodes of ${kernel}`, right, LIMIT_MS);
  const changes = forEachOf(changed, WRITERS, (index) =>
    cluster.patchStatus(index * cluster.groups, { nodeInfo: { kernelVersion: kernel } }),
  ).then(() => performance.now());
  const [ended, at] = await Promise.all([changes, converged]);
  return { changesMs: ended - started, convergedMs: at - ended, writes };
}

function isRight(pool: WindowsPool | undefined, kernel: string, changed: number): boolean {
  const { builds = [], nodes } = pool?.status ?? {};
  const [only] = builds;
  return builds.length === 1 && only?.kernelVersion === kernel && only.nodes === changed && nodes?.verified === changed;
}
