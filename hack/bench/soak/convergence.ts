/** Whether every pool is reconciled at the end of a soak test, and counts its nodes correctly. */
import { NODE_SELECTOR, nodeListWatch } from '../../../controllers/kubernetes/nodes.ts';
import { poolListWatch } from '../../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { conditionLines, isReconciled } from '../../../test/fakes/testenv/testEnv.ts';
import { waitFor } from '../../controlplane/wait.ts';
import type { BenchCluster } from '../benchCluster.ts';
import { isReady } from '../pools.ts';
import { POOL_LABEL } from './poolSpecs.ts';

/** Enough to label thousands of nodes one by one, and for replacements, updates of node groups and retries that have begun. */
const LIMIT_MS = 600_000;
const LIST_MS = 60_000;
const SHOWN = 3;

/**
 * Waits until every pool is Ready and reconciled, disrupts no nodes, and its status has the number of its nodes in the API server; for a node group,
 * that is also the number in AWS. Rejects with the pools that are not.
 */
export async function waitForConvergence(cluster: BenchCluster, pools: number, signal: AbortSignal): Promise<void> {
  let left: string[] = [];
  const converged = async () => {
    left = await unconverged(cluster, pools);
    return left.length === 0;
  };
  await waitFor(converged, {
    what: `all ${pools} pools to be reconciled`,
    timeoutMs: LIMIT_MS,
    intervalMs: 2_000,
    signal,
    explain: () => `${left.length} are not, such as:\n${left.slice(0, SHOWN).join('\n')}`,
  });
}

async function unconverged({ admin, world }: BenchCluster, pools: number): Promise<string[]> {
  const deadline = AbortSignal.timeout(LIST_MS);
  const [found, nodes] = await Promise.all([
    poolListWatch(admin).list({ resourceVersion: '' }, deadline),
    nodeListWatch(admin, NODE_SELECTOR).list({ resourceVersion: '' }, deadline),
  ]);
  const counts = new Map<string, number>();
  for (const { labels } of nodes.items) {
    const pool = labels[POOL_LABEL] ?? '';
    counts.set(pool, (counts.get(pool) ?? 0) + 1);
  }
  const missing = pools - found.items.length;
  const problems = found.items.flatMap((pool) => {
    const { name } = pool.metadata;
    const desired = world.cloud.state.groups.get(name)?.nodegroup.scalingConfig?.desiredSize;
    const problem = problemOf(pool, counts.get(name) ?? 0, desired);
    return problem ? [`${name}: ${problem}\n${conditionLines(pool)}`] : [];
  });
  return missing === 0 ? problems : [`${missing} of ${pools} pools do not exist`, ...problems];
}

function problemOf(pool: WindowsPool, nodes: number, desired: number | undefined): string | undefined {
  const { spec, status } = pool;
  if (!isReady(pool)) return 'it is not Ready';
  if (!isReconciled(pool)) return 'its spec is not reconciled';
  if (status?.disruption) return 'it disrupts nodes';
  if (status?.nodes?.total !== nodes) return `its status has ${status?.nodes?.total} nodes, the API server ${nodes}`;
  if (spec.nodeGroup && desired !== nodes) return `its node group has the size ${desired}, and ${nodes} nodes`;
  return undefined;
}
