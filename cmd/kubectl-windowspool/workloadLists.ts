/** Lists of workloads and pods, as far as the user may read them. */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import { controllerOf, type Wire } from '../../controllers/kubernetes/objects.ts';
import { readPages } from '../../controllers/kubernetes/pages.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';
import { unlessForbidden } from './failure.ts';

/** A list: its API version, and the name of the resource. */
export type Resource = readonly [apiVersion: string, resource: string];

/** The kinds that create pods, and their resources. */
export const WORKLOADS = {
  Deployment: ['apps/v1', 'deployments'],
  StatefulSet: ['apps/v1', 'statefulsets'],
  DaemonSet: ['apps/v1', 'daemonsets'],
  ReplicaSet: ['apps/v1', 'replicasets'],
  ReplicationController: ['v1', 'replicationcontrollers'],
  CronJob: ['batch/v1', 'cronjobs'],
  Job: ['batch/v1', 'jobs'],
} as const satisfies Readonly<Record<string, Resource>>;

/** Whether a workload of these kinds created the object. The Job of Volcano is another kind, and the Rollout of Argo is none of them. */
export function isOfWorkload(metadata: Wire<V1ObjectMeta> | undefined): boolean {
  const owner = controllerOf(metadata);
  const isListed = ([kind, [apiVersion]]: readonly [string, Resource]) =>
    kind === owner?.kind && groupOf(apiVersion) === groupOf(owner.apiVersion);
  return Object.entries(WORKLOADS).some(isListed);
}

/** The group of an API version, whose version may be an older one; `v1` is that of Pods. */
function groupOf(apiVersion: string): string {
  return apiVersion.replace(/[/].*/, '');
}

export const PODS: Resource = ['v1', 'pods'];
const LIMITS = { limit: 500, most: 200_000 };

/**
 * Returns what `keep` returns for each object of a list, without undefined, of one namespace or of all. Only pods that have not finished are listed. A
 * list that the user may not read is empty, and `skipped` gets the reason.
 */
export async function listAllowed<O, T>(
  cluster: Cluster,
  [apiVersion, resource]: Resource,
  namespace: string | undefined,
  skipped: string[],
  keep: (object: Wire<O>) => T | undefined,
): Promise<readonly T[]> {
  const query = resource === 'pods' ? { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' } : {};
  const options = { query, signal: cluster.signal, timeoutMs: cluster.flags.requestTimeout, ...LIMITS };
  const found = readPages<O, T>(cluster.client, apiPath(apiVersion, resource, { namespace }), options, keep);
  return unlessForbidden(found, [], resource, skipped);
}
