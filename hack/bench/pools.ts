/** Pools over the nodes of a BenchCluster, and a view of their statuses as they are written. */
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

/** As large as EKS' default quota lets a group be. The benches add more nodes than it has instances. */
const LARGE = { min: 1, max: 450 };

/** A pool of the benches with these sizes. */
export function poolObject(name: string, scaling: { readonly min: number; readonly max: number }): object {
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      nodeGroup: { nodeRoleArn, subnets: subnetIds.map((id) => ({ id })), instanceTypes: ['m5.xlarge'] },
      scaling,
    },
  };
}

/** Makes a pool for each group of the cluster and has an operator bring them all to Ready; then nothing is left to do but to watch. */
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

/** The cluster's pools, as a watch brings them. */
export function watchPools({ admin }: BenchCluster): View<WindowsPool> {
  return view('pools', poolListWatch(admin), poolIdentity, (pool) => `${pool.metadata.name}: ${conditionLines(pool)}`);
}
