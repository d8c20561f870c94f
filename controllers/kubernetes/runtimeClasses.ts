import type { V1ObjectMeta, V1OwnerReference, V1RuntimeClass } from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import { ADOPTABLE_BY, MANAGED_BY, MANAGED_BY_LABEL } from '../windowspool/api/labels.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type {
  DesiredRuntimeClass,
  RuntimeClass,
  RuntimeClasses,
  Toleration,
} from '../windowspool/ports/runtimeClasses.ts';
import { createBatches } from '../windowspool/util/batches.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { deleteObject } from './deletion.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { createListWatch } from './listWatch.ts';
import { managerOf } from './managerOf.ts';
import { recordIdentity, type Wire } from './objects.ts';
import { apiPath } from './paths.ts';
import { API_VERSION, KIND } from './pools.ts';

const RUNTIME_CLASS_API = 'node.k8s.io/v1';
const pathOf = (name?: string) => apiPath(RUNTIME_CLASS_API, 'runtimeclasses', { name });

export const runtimeClassIdentity: Identity<RuntimeClass> = recordIdentity;

function runtimeClassOf({ metadata = {}, handler = '', scheduling = {} }: Wire<V1RuntimeClass>): RuntimeClass {
  const adoptableBy = metadata.annotations?.[ADOPTABLE_BY];
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    managed: metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY,
    managedBy: managerOf(metadata),
    ...(adoptableBy !== undefined && { adoptableBy }),
    owners: (metadata.ownerReferences ?? []).filter(isPool).map(({ name, uid }) => ({ name, uid })),
    handler,
    nodeSelector: scheduling.nodeSelector ?? {},
    tolerations: (scheduling.tolerations ?? []) as readonly Toleration[],
  };
}

export function runtimeClassListWatch(client: KubernetesClient): ListWatch<RuntimeClass> {
  return createListWatch({ client, path: pathOf(), decoder: jsonDecoder(runtimeClassOf) });
}

interface NewOwner {
  readonly seen: RuntimeClass;
  readonly pool: WindowsPool;
}

/**
 * The port RuntimeClasses. Each pool that shares a RuntimeClass has an owner reference, so that the garbage collector deletes it with the last
 * pool. Pools that become owners at the same time share a call: each response has all owners, which can be a thousand. All pools share one field
 * manager, because at every apply the API server converts the object once for each manager.
 */
export function createRuntimeClasses(client: KubernetesClient, store: StoreView<RuntimeClass>): RuntimeClasses {
  const observe = (written: Wire<V1RuntimeClass>): void => void store.observeWrite(runtimeClassOf(written));
  const patchOwners = async (seen: RuntimeClass, change: object, signal: AbortSignal) => {
    const body = { metadata: { uid: seen.uid, ...change } };
    const options = { query: WRITER, body, contentType: PATCH.strategic, signal };
    observe(await client.request<V1RuntimeClass>('PATCH', pathOf(seen.name), options));
  };
  const addOwner = createBatches<NewOwner, CallResult<void>>({
    keyOf: ({ seen }) => seen.uid,
    send: async (owners, signal) => {
      const [{ seen }] = owners as [NewOwner];
      const ownerReferences = owners.map(({ pool }) => ownerReferenceTo(pool));
      const added = await toCallResult('patch runtimeclasses', signal, () =>
        patchOwners(seen, { ownerReferences }, signal),
      );
      // Gone is also a conflict: the observed object no longer exists.
      return added.ok || added.error.kind !== 'gone'
        ? added
        : { ...added, error: { ...added.error, kind: 'conflict' } };
    },
  });
  return {
    get: (name) => store.get(name),
    create: (desired, pool, signal) =>
      toCallResult('create runtimeclasses', signal, async () => {
        const body = manifest(desired, { ownerReferences: [ownerReferenceTo(pool)] });
        observe(await client.request<V1RuntimeClass>('POST', pathOf(), { query: WRITER, body, signal }));
      }),
    apply: (desired, seen, signal) =>
      toCallResult('patch runtimeclasses', signal, async () => {
        const query = { ...WRITER, force: true };
        // The uid is the precondition: without it, apply would recreate an object that was deleted since.
        const options = { query, body: manifest(desired, { uid: seen.uid }), contentType: PATCH.apply, signal };
        observe(await client.request<V1RuntimeClass>('PATCH', pathOf(desired.name), options));
      }),
    addOwner: (seen, pool, signal) => addOwner({ seen, pool }, signal),
    removeOwner: (seen, pool, signal) =>
      toCallResult('patch runtimeclasses', signal, async () => {
        // The precondition lets the last of two pools that are deleted at once see that it is the last: it deletes the object.
        const { resourceVersion } = seen;
        const ownerReferences = [{ $patch: 'delete', uid: pool.metadata.uid }];
        await ignoreNotFound(patchOwners(seen, { resourceVersion, ownerReferences }, signal));
      }),
    delete: (seen, signal) =>
      toCallResult('delete runtimeclasses', signal, () => deleteObject(client, pathOf(seen.name), seen.uid, signal)),
  };
}

const WRITER = { fieldManager: MANAGED_BY };

/** A strategic merge patch merges owner references by uid. */
function ownerReferenceTo({ metadata: { name, uid } }: WindowsPool): Wire<V1OwnerReference> {
  return { apiVersion: API_VERSION, kind: KIND, name, uid, controller: false, blockOwnerDeletion: false };
}

function manifest(desired: DesiredRuntimeClass, metadata: Wire<V1ObjectMeta>): Wire<V1RuntimeClass> {
  return {
    apiVersion: RUNTIME_CLASS_API,
    kind: 'RuntimeClass',
    metadata: {
      name: desired.name,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
      ...metadata,
    },
    handler: desired.handler,
    scheduling: { nodeSelector: desired.nodeSelector, tolerations: desired.tolerations },
  };
}

function isPool({ apiVersion, kind }: Wire<V1OwnerReference>): boolean {
  return kind === KIND && apiVersion.startsWith('winpool.dev/');
}
