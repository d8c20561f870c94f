/** The pods on nodes. */
import type { V1Pod } from '@kubernetes/client-node';
import { isForbidden } from '../../controllers/kubernetes/errors.ts';
import { readPages } from '../../controllers/kubernetes/pages.ts';
import type { Cluster } from './cluster.ts';

const LIMITS = { limit: 500, most: 200_000 };

/** How many pods run on each node. Empty if the user may not list pods. */
export async function podCounts(cluster: Cluster, nodes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(nodes.map((node) => [node, 0]));
  // One list of all pods: a request for each node takes longer than that from a few nodes on.
  const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
  try {
    await readPages<V1Pod, never>(
      cluster.client,
      '/api/v1/pods',
      { query: { fieldSelector }, signal: cluster.signal, timeoutMs: cluster.flags.requestTimeout, ...LIMITS },
      ({ spec }) => {
        const node = spec?.nodeName ?? '';
        const before = counts.get(node);
        if (before !== undefined) counts.set(node, before + 1);
        return undefined;
      },
    );
    return counts;
  } catch (error) {
    if (isForbidden(error)) return new Map();
    throw error;
  }
}
