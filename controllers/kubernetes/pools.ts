import type { KubernetesObject } from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api.gen.ts';
import { FINALIZER } from '../windowspool/labels.ts';
import type { Pools } from '../windowspool/ports/pools.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { isNotFound, toCallResult } from './errors.ts';
import { createListWatch } from './listWatch.ts';
import type { Wire } from './objects.ts';

export const API_VERSION = 'winpool.dev/v1alpha1';
export const KIND = 'WindowsPool';
const PATH = `/apis/${API_VERSION}/windowspools`;
/** kubectl's copy of the manifest: as large as the object, and of no use here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export const poolIdentity: Identity<WindowsPool> = {
  key: ({ metadata }) => metadata.name,
  uid: ({ metadata }) => metadata.uid,
  resourceVersion: ({ metadata }) => metadata.resourceVersion,
};

/** The default of status.observedGeneration in the CRD, which the API server shows where nobody has written a status. */
const UNSEEN = -1;

/**
 * A pool as the API server sends it, without what only other writers need, and without a status that nobody wrote. Lists leave apiVersion
 * and kind out of their items.
 */
function poolOf(object: Wire<KubernetesObject>): WindowsPool {
  const { metadata = {}, status, ...rest } = object as Wire<KubernetesObject> & Pick<WindowsPool, 'status'>;
  // More than the default is somebody's: a pool whose cluster is pinned elsewhere must be refused, however its status came here.
  const { observedGeneration, ...more } = status ?? {};
  const written = status && (observedGeneration !== UNSEEN || Object.keys(more).length > 0) ? { status } : {};
  const { managedFields: _, annotations, ...kept } = metadata;
  const { [LAST_APPLIED]: _applied, ...others } = annotations ?? {};
  const withAnnotations = Object.keys(others).length > 0 ? { ...kept, annotations: others } : kept;
  // The CRD's schema vouches for the shape; its types are generated from the same file.
  return { ...rest, ...written, apiVersion: API_VERSION, kind: KIND, metadata: withAnnotations } as WindowsPool;
}

export function poolListWatch(client: KubernetesClient): ListWatch<WindowsPool> {
  return createListWatch({ client, path: PATH, decoder: jsonDecoder(poolOf) });
}

/** The domain's pools. Every write says which version it is based on, and its answer goes into the store. */
export function createPools(client: KubernetesClient, store: StoreView<WindowsPool>): Pools {
  const pathOf = (name: string): string => `${PATH}/${encodeURIComponent(name)}`;

  const write = async (
    method: 'PUT' | 'PATCH',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<WindowsPool> => {
    const contentType = method === 'PATCH' ? PATCH.merge : 'application/json';
    const pool = poolOf(await client.request<KubernetesObject>(method, path, { body, contentType, signal }));
    store.observeWrite(pool);
    return pool;
  };

  const setFinalizers = (
    pool: WindowsPool,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<WindowsPool> => {
    const { name, resourceVersion } = pool.metadata;
    // A merge patch replaces the whole list, so it must be based on the version in which the others' finalizers were seen.
    return write('PATCH', pathOf(name), { metadata: { resourceVersion, finalizers } }, signal);
  };

  return {
    get: (name) => store.get(name),
    read: (name, signal) =>
      toCallResult('get windowspools', signal, async () => {
        try {
          const pool = poolOf(await client.request<KubernetesObject>('GET', pathOf(name), { signal }));
          store.observeWrite(pool);
          return pool;
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),
    list: (signal) =>
      toCallResult('list windowspools', signal, async () => {
        // Without a resourceVersion the API server answers with what is true now.
        const { items = [] } = await client.request<{ items?: KubernetesObject[] }>('GET', PATH, { signal });
        const pools = items.map(poolOf);
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
        try {
          const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
          await setFinalizers(pool, others, signal);
        } catch (error) {
          // Somebody was faster, and the pool is gone: that is what was wanted.
          if (!isNotFound(error)) throw error;
        }
      }),
    writeStatus: (pool, status, signal) =>
      toCallResult('update windowspools/status', signal, () => {
        // The subresource takes the status and ignores the rest; resourceVersion in the metadata is the precondition.
        return write('PUT', `${pathOf(pool.metadata.name)}/status`, { ...pool, status }, signal);
      }),
  };
}
