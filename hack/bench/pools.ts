/** Pools of the nodes of a BenchCluster, and a watch of their statuses. */
import { poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { nodeRoleArn, subnetIds } from '../../test/fakes/localaws/network.ts';
import { conditionLines, conditionOf } from '../../test/fakes/testenv/testEnv.ts';
import { type BenchCluster, MOST_NODES } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { groupName } from './nodeObject.ts';
import { type View, view } from './view.ts';

/** Ten thousand nodes are verified again and again before all pools are Ready. */
const READY_MS = 120_000;

/** A pool of the benches with these sizes. */
export function poolObject(name: string, scaling: { readonly minSize: number; readonly maxSize: number }): object {
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      nodeGroup: {
        nodeRole: nodeRoleArn,
        subnets: subnetIds.map((id) => ({ id })),
        instanceTypes: ['m5.xlarge'],
        scaling,
      },
    },
  };
}

/**
 * Has a pool for each group of the cluster, and runs an operator until each has verified all its nodes; after that the operator only watches.
 * The nodes join the groups while no operator runs: its list of their instances would be older.
 */
export async function preparePools(cluster: BenchCluster): Promise<void> {
  // A node group without nodes launches no instances.
  const items = Array.from({ length: cluster.groups }, (_, index) =>
    poolObject(groupName(index, cluster.groups), { minSize: 0, maxSize: MOST_NODES }),
  );
  await cluster.world.apply({ apiVersion: 'v1', kind: 'List', items });
  await runUntil(cluster, 'every pool has its node group', ({ status }) => status?.nodeGroup?.status === 'ACTIVE');
  cluster.joinGroups();
  await runUntil(cluster, 'every pool has verified its nodes', (pool) => {
    const { total, verified } = pool.status?.nodes ?? {};
    return isReady(pool) && total === cluster.nodesOf(pool.metadata.name) && verified === total;
  });
}

async function runUntil(cluster: BenchCluster, what: string, isDone: (pool: WindowsPool) => boolean): Promise<void> {
  await using pools = watchPools(cluster);
  const isOfCluster = ({ metadata }: WindowsPool) => cluster.nodesOf(metadata.name) !== undefined;
  const areDone = (all: readonly WindowsPool[]) => all.filter(isOfCluster).filter(isDone).length === cluster.groups;
  await pools.listed();
  if (areDone(pools.store.list())) return;
  await using _operator = await BenchOperator.start(cluster, {
    flags: ['--poll-interval=300ms', '--leader-elect=false'],
  });
  await pools.until(what, areDone, READY_MS);
}

/** Whether the pool is Ready for its current generation. */
export function isReady(pool: WindowsPool): boolean {
  return conditionOf(pool, 'Ready').startsWith('True') && pool.status?.observedGeneration === pool.metadata.generation;
}

/** The pools of the cluster, from a watch. */
export function watchPools({ admin }: BenchCluster): View<WindowsPool> {
  return view('pools', poolListWatch(admin), poolIdentity, (pool) => `${pool.metadata.name}: ${conditionLines(pool)}`);
}
