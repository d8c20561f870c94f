import type { KubernetesObject } from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import { FINALIZER, OWN_PREFIX } from '../windowspool/api/labels.ts';
import type { Pools } from '../windowspool/ports/pools.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { createListWatch } from './listWatch.ts';
import type { Wire } from './objects.ts';
import { readPages } from './pages.ts';
import { apiPath } from './paths.ts';

export const API_VERSION = 'winpool.dev/v1alpha1';
export const KIND = 'WindowsPool';
/** The path of a pool, or of all pools. */
export const poolPath = (name?: string) => apiPath(API_VERSION, 'windowspools', { name });
/** A cluster has some hundred pools at most. */
const PAGES = { limit: 100, most: 10_000 };

export const poolIdentity: Identity<WindowsPool> = {
  key: ({ metadata }) => metadata.name,
  resourceVersion: ({ metadata }) => metadata.resourceVersion,
};

/** The CRD's default of status.observedGeneration: no status has been written. */
const UNSEEN = -1;

/** Drops managed fields, the annotations of others, which can have 256 KiB, and a status that is only the CRD's default. Adds apiVersion and kind, which items of lists lack. */
function poolOf(object: Wire<KubernetesObject>): WindowsPool {
  const { metadata = {}, status, ...rest } = object as Wire<KubernetesObject> & Pick<WindowsPool, 'status'>;
  // A status with more than the default counts: a pool that is pinned to another cluster must be rejected, wherever its status came from.
  const { observedGeneration, ...more } = status ?? {};
  const written = status && (observedGeneration !== UNSEEN || Object.keys(more).length > 0) ? { status } : {};
  const { managedFields: _, annotations, ...kept } = metadata;
  const own = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith(OWN_PREFIX));
  const withAnnotations = own.length > 0 ? { ...kept, annotations: Object.fromEntries(own) } : kept;
  // The CRD's schema guarantees the shape. The types are generated from the same file.
  return { ...rest, ...written, apiVersion: API_VERSION, kind: KIND, metadata: withAnnotations } as WindowsPool;
}

/** Completes a pool with settings of the operator. The API server ignores them when a status is written. */
export type CompletePool = (pool: WindowsPool) => WindowsPool;

const asItIs: CompletePool = (pool) => pool;

export function poolListWatch(client: KubernetesClient, complete = asItIs): ListWatch<WindowsPool> {
  const decoder = jsonDecoder((object: Wire<KubernetesObject>) => complete(poolOf(object)));
  return createListWatch({ client, path: poolPath(), decoder });
}

/** The port Pools. Every write has a precondition, and its result goes into the store. */
export function createPools(client: KubernetesClient, store: StoreView<WindowsPool>, complete = asItIs): Pools {
  const completePoolOf = (object: Wire<KubernetesObject>) => complete(poolOf(object));
  const write = async (
    method: 'PUT' | 'PATCH',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<WindowsPool> => {
    const contentType = method === 'PATCH' ? PATCH.merge : 'application/json';
    const pool = completePoolOf(await client.request<KubernetesObject>(method, path, { body, contentType, signal }));
    store.observeWrite(pool);
    return pool;
  };

  const setFinalizers = (
    pool: WindowsPool,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<WindowsPool> => {
    const { name, resourceVersion } = pool.metadata;
    // A merge patch replaces the list with the finalizers of others: the resourceVersion is the precondition.
    return write('PATCH', poolPath(name), { metadata: { resourceVersion, finalizers } }, signal);
  };

  return {
    get: (name) => store.get(name),
    read: (name, signal) =>
      toCallResult('get windowspools', signal, async () => {
        const pool = await ignoreNotFound(
          client.request<KubernetesObject>('GET', poolPath(name), { signal }).then(completePoolOf),
        );
        if (pool) store.observeWrite(pool);
        return pool;
      }),
    list: (signal) =>
      toCallResult('list windowspools', signal, async () => {
        // Without a resourceVersion the API server returns the most recent data, in all pages those of the first one.
        const pools = await readPages<KubernetesObject, WindowsPool>(
          client,
          poolPath(),
          { ...PAGES, signal },
          completePoolOf,
        );
        for (const pool of pools) store.observeWrite(pool);
        return pools;
      }),
    addFinalizer: (pool, signal) =>
      toCallResult('patch windowspools', signal, async () => {
        const finalizers = pool.metadata.finalizers ?? [];
        return finalizers.includes(FINALIZER) ? pool : setFinalizers(pool, [...finalizers, FINALIZER], signal);
      }),
    removeFinalizer: (pool, signal) =>
      toCallResult('patch windowspools', signal, async () => {
        const finalizers = pool.metadata.finalizers ?? [];
        if (!finalizers.includes(FINALIZER)) return;
        const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
        await ignoreNotFound(setFinalizers(pool, others, signal));
      }),
    writeStatus: (pool, status, signal) =>
      toCallResult('update windowspools/status', signal, () => {
        // The subresource ignores all but the status. The resourceVersion in the metadata is the precondition. The CRD's default applies only to
        // objects without a status, and kstatus takes a status without a generation for that of a reconciled object.
        const complete = { observedGeneration: UNSEEN, ...status };
        return write('PUT', `${poolPath(pool.metadata.name)}/status`, { ...pool, status: complete }, signal);
      }),
  };
}
