/** Pools of the nodes of a BenchCluster, and a watch of their statuses. */
import { poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { nodeRoleArn, subnetIds } from '../localaws/network.ts';
import { conditionLines, conditionOf } from '../testenv/testEnv.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { groupName } from './nodeObject.ts';
import { type View, view } from './view.ts';

/** Ten thousand nodes are verified again and again before all pools are Ready. */
const READY_MS = 120_000;

/** The default quota of EKS for the size of a group. The benchmarks add more nodes than it has instances. */
const LARGE = { minSize: 1, maxSize: 450 };

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

/** Creates a pool for each group of the cluster, and runs an operator until all are Ready; after that the operator only watches. */
export async function preparePools(cluster: BenchCluster, bundle: string): Promise<void> {
  const items = Array.from({ length: cluster.groups }, (_, index) =>
    poolObject(groupName(index, cluster.groups), LARGE),
  );
  await cluster.world.apply({ apiVersion: 'v1', kind: 'List', items });
  const flags = ['--poll-interval=300ms', '--leader-elect=false'];
  const operator = await BenchOperator.start(cluster, bundle, { flags });
  const pools = watchPools(cluster);
  try {
    await pools.until('every pool is Ready', (all) => all.length === cluster.groups && all.every(isReady), READY_MS);
  } finally {
    await pools.stop();
    await operator.stop();
  }
}

/** Whether the pool is Ready for its current generation. */
export function isReady(pool: WindowsPool): boolean {
  return conditionOf(pool, 'Ready').startsWith('True') && pool.status?.observedGeneration === pool.metadata.generation;
}

/** The pools of the cluster, from a watch. */
export function watchPools({ admin }: BenchCluster): View<WindowsPool> {
  return view('pools', poolListWatch(admin), poolIdentity, (pool) => `${pool.metadata.name}: ${conditionLines(pool)}`);
}
