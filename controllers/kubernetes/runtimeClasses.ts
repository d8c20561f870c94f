import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api.gen.ts';
import { IMAGE_BUILDS_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL } from '../windowspool/labels.ts';
import type {
  RuntimeClass,
  RuntimeClasses,
  RuntimeClassWish,
  Toleration,
} from '../windowspool/ports/runtimeClasses.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { answer, isNotFound } from './errors.ts';
import { createListWatch } from './listWatch.ts';
import type { KubernetesObject, OwnerReference } from './objects.ts';
import { API_VERSION, KIND } from './pools.ts';

const RUNTIME_CLASS_API = 'node.k8s.io/v1';
const PATH = `/apis/${RUNTIME_CLASS_API}/runtimeclasses`;

export const runtimeClassIdentity: Identity<RuntimeClass> = {
  key: ({ name }) => name,
  uid: ({ uid }) => uid,
  resourceVersion: ({ resourceVersion }) => resourceVersion,
};

interface RuntimeClassJson extends KubernetesObject {
  readonly handler?: string;
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
  };
}

function runtimeClassOf({ metadata = {}, handler = '', scheduling = {} }: RuntimeClassJson): RuntimeClass {
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    managed: metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY,
    owners: (metadata.ownerReferences ?? []).filter(isPool).map(({ name, uid }) => ({ name, uid })),
    handler,
    nodeSelector: scheduling.nodeSelector ?? {},
    tolerations: scheduling.tolerations ?? [],
    imageBuilds: metadata.annotations?.[IMAGE_BUILDS_ANNOTATION] ?? '',
  };
}

export function runtimeClassListWatch(client: KubernetesClient): ListWatch<RuntimeClass> {
  return createListWatch({ client, path: PATH, decoder: jsonDecoder(runtimeClassOf) });
}

/**
 * The domain's RuntimeClasses. One is shared by several pools: each has its own field manager and its own owner reference, so that
 * the garbage collector ends it with the last of them.
 */
export function createRuntimeClasses(client: KubernetesClient, store: StoreView<RuntimeClass>): RuntimeClasses {
  const pathOf = (name: string): string => `${PATH}/${encodeURIComponent(name)}`;
  const observe = (written: RuntimeClassJson): void => void store.observeWrite(runtimeClassOf(written));
  return {
    get: (name) => store.get(name),
    create: (wish, pool, signal) =>
      answer('create runtimeclasses', signal, async () => {
        const query = { fieldManager: fieldManagerOf(pool) };
        observe(
          await client.request<RuntimeClassJson>('POST', PATH, {
            query,
            body: manifest(wish, pool, undefined),
            signal,
          }),
        );
      }),
    apply: (wish, seen, pool, signal) =>
      answer('patch runtimeclasses', signal, async () => {
        const query = { fieldManager: fieldManagerOf(pool), force: true };
        // The uid is the precondition: without it, an object that vanished since would be made anew.
        const options = { query, body: manifest(wish, pool, seen.uid), contentType: PATCH.apply, signal };
        observe(await client.request<RuntimeClassJson>('PATCH', pathOf(wish.name), options));
      }),
    release: (seen, pool, signal) =>
      answer('patch runtimeclasses', signal, async () => {
        const written = await release(client, pathOf(seen.name), seen, pool, signal);
        if (written) observe(written);
      }),
    delete: (seen, signal) =>
      answer('delete runtimeclasses', signal, async () => {
        const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: seen.uid } };
        try {
          await client.request('DELETE', pathOf(seen.name), { body, signal });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }),
  };
}

/**
 * Takes the pool's owner reference and its entries in managedFields out, in one write that holds only for the version just read.
 * An empty apply would end the pool's fields with the pool's claim on them; here the object stays as it is.
 */
async function release(
  client: KubernetesClient,
  path: string,
  seen: RuntimeClass,
  pool: WindowsPool,
  signal: AbortSignal,
): Promise<RuntimeClassJson | undefined> {
  const { metadata } = await client.request<RuntimeClassJson>('GET', path, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return {} as RuntimeClassJson;
    throw error;
  });
  if (metadata?.uid !== seen.uid) return undefined;
  const ownerReferences = metadata.ownerReferences?.filter(({ uid }) => uid !== pool.metadata.uid) ?? [];
  if (ownerReferences.length === (metadata.ownerReferences?.length ?? 0)) return undefined;
  const others = metadata.managedFields?.filter(({ manager }) => manager !== fieldManagerOf(pool)) ?? [];
  // An empty list counts as "not said"; one empty entry empties it (Kubernetes, server-side apply, clearing managedFields).
  const managedFields = others.length > 0 ? others : [{}];
  const body = { metadata: { resourceVersion: metadata.resourceVersion, ownerReferences, managedFields } };
  return client.request<RuntimeClassJson>('PATCH', path, {
    query: { fieldManager: MANAGED_BY },
    body,
    contentType: PATCH.merge,
    signal,
  });
}

function manifest(wish: RuntimeClassWish, pool: WindowsPool, uid: string | undefined): object {
  const { name, uid: poolUid } = pool.metadata;
  const owner = {
    apiVersion: API_VERSION,
    kind: KIND,
    name,
    uid: poolUid,
    controller: false,
    blockOwnerDeletion: false,
  };
  return {
    apiVersion: RUNTIME_CLASS_API,
    kind: 'RuntimeClass',
    metadata: {
      name: wish.name,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
      annotations: { [IMAGE_BUILDS_ANNOTATION]: wish.imageBuilds },
      ownerReferences: [owner],
      ...(uid && { uid }),
    },
    handler: wish.handler,
    scheduling: { nodeSelector: wish.nodeSelector, tolerations: wish.tolerations },
  };
}

/** At most 128 characters, the API server's limit: a pool's name has at most 63. */
function fieldManagerOf(pool: WindowsPool): string {
  return `${MANAGED_BY}/${pool.metadata.name}`;
}

function isPool({ apiVersion, kind }: OwnerReference): boolean {
  return kind === KIND && apiVersion.startsWith('winpool.dev/');
}
