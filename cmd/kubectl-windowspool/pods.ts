/** The pods on nodes. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Cluster } from './cluster.ts';
import { listAllowed, PODS } from './workloadLists.ts';

/** How many pods run on each node. Empty if the user may not list pods. */
export async function podCounts(cluster: Cluster, nodes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(nodes.map((node) => [node, 0]));
  const denied: string[] = [];
  // One list of all pods: a request for each node takes longer than that from a few nodes on.
  await listAllowed<V1Pod, never>(cluster, PODS, undefined, denied, ({ spec }) => {
    const node = spec?.nodeName ?? '';
    const before = counts.get(node);
    if (before !== undefined) counts.set(node, before + 1);
    return undefined;
  });
  return denied.length > 0 ? new Map() : counts;
}
