/** Lists of workloads and pods, as far as the user may read them. */
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { readPages } from '../../controllers/kubernetes/pages.ts';
import type { Cluster } from './cluster.ts';
import { unlessForbidden } from './failure.ts';

/** A list: the path of its API group, and the name of the resource. */
export type Resource = readonly [group: string, resource: string];

/** The kinds that create pods, and their resources. */
export const WORKLOADS = {
  Deployment: ['/apis/apps/v1', 'deployments'],
  StatefulSet: ['/apis/apps/v1', 'statefulsets'],
  DaemonSet: ['/apis/apps/v1', 'daemonsets'],
  ReplicaSet: ['/apis/apps/v1', 'replicasets'],
  ReplicationController: ['/api/v1', 'replicationcontrollers'],
  CronJob: ['/apis/batch/v1', 'cronjobs'],
  Job: ['/apis/batch/v1', 'jobs'],
} as const satisfies Readonly<Record<string, Resource>>;

export const PODS: Resource = ['/api/v1', 'pods'];
const LIMITS = { limit: 500, most: 200_000 };

/**
 * Returns what `keep` returns for each object of a list, without undefined, of one namespace or of all. Only pods that have not finished are listed. A
 * list that the user may not read is empty, and `skipped` gets the reason.
 */
export async function listAllowed<O, T>(
  cluster: Cluster,
  [group, resource]: Resource,
  namespace: string | undefined,
  skipped: string[],
  keep: (object: Wire<O>) => T | undefined,
): Promise<readonly T[]> {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = resource === 'pods' ? { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' } : {};
  const options = { query, signal: cluster.signal, timeoutMs: cluster.flags.requestTimeout, ...LIMITS };
  const found = readPages<O, T>(cluster.client, `${group}${scope}/${resource}`, options, keep);
  return unlessForbidden(found, [], resource, skipped);
}
