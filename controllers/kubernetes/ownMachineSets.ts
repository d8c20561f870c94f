/** The port OwnMachineSets. All writes are applied by one field manager. */

import type { MachineSetReference } from '../windowspool/api/api.gen.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, POOL_KEY } from '../windowspool/api/labels.ts';
import type { Manifest, OwnMachineSets } from '../windowspool/ports/ownMachineSets.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { deleteObject } from './deletion.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';
import { MACHINE_RESOURCES } from './machines.ts';
import type { Wire } from './objects.ts';
import { readPages } from './pages.ts';
import { apiPath } from './paths.ts';

/** Templates of a pool, and MachineSets of a namespace: more are an error. */
const MOST = 2_000;
const PAGE_SIZE = 100;

/** What refers to an infrastructure template. */
interface Referring {
  readonly spec?: {
    readonly template?: { readonly spec?: { readonly infrastructureRef?: { readonly name?: string } } };
  };
}

interface Named {
  readonly metadata?: { readonly name?: string; readonly uid?: string };
}

/** The port. */
export function createOwnMachineSets(client: KubernetesClient): OwnMachineSets {
  const pathOf = ({ apiVersion, kind, namespace }: MachineSetReference, name?: string) =>
    apiPath(apiVersion, MACHINE_RESOURCES[kind], { namespace, name });
  const createTemplate = ({ metadata, ...manifest }: Manifest, signal: AbortSignal) =>
    toCallResult(`create ${resourceOf(manifest.kind)}`, signal, async () => {
      const path = apiPath(manifest.apiVersion, resourceOf(manifest.kind), { namespace: metadata.namespace });
      const options = {
        query: { fieldManager: MANAGED_BY, fieldValidation: 'Strict' },
        body: { metadata, ...manifest },
        signal,
      };
      // Its name is a hash of its content.
      await client.request('POST', path, options).catch(ignoreExisting);
    });
  return {
    apply: async (ref, { object, infrastructure }, isNew, signal) => {
      const created = infrastructure && (await createTemplate(infrastructure, signal));
      if (created && !created.ok) return created;
      return toCallResult(`patch ${MACHINE_RESOURCES[ref.kind]}`, signal, async () => {
        // To apply a manifest would take over an object that another tool has created meanwhile.
        const found = isNew && (await ignoreNotFound(client.request('GET', pathOf(ref, ref.name), { signal })));
        if (found)
          throw new KubernetesError(`${ref.kind} ${ref.name} exists already`, { status: 409, reason: 'AlreadyExists' });
        // Without force, the fields of one that was created since conflict.
        const query = { fieldManager: MANAGED_BY, force: !isNew };
        const options = { query, body: object, contentType: PATCH.apply, signal };
        await client.request('PATCH', pathOf(ref, ref.name), options);
      });
    },
    delete: (ref, { name, uid }, signal) =>
      toCallResult(`delete ${MACHINE_RESOURCES[ref.kind]}`, signal, () =>
        // It stays until its Machines are gone: MachineSets of OpenShift have no finalizer.
        deleteObject(client, pathOf(ref, name), uid, signal, { propagationPolicy: 'Foreground' }),
      ),
    pruneTemplates: (ref, { apiVersion, kind }, pool, signal) =>
      toCallResult(`delete ${resourceOf(kind)}`, signal, async () => {
        const paging = { limit: PAGE_SIZE, most: MOST, signal };
        const object = await ignoreNotFound(client.request<Referring>('GET', pathOf(ref, ref.name), { signal }));
        // The Machines of an earlier template have a MachineSet that refers to it.
        const sets = await readPages<Referring, string>(
          client,
          pathOf({ ...ref, kind: 'MachineSet' }),
          paging,
          referred,
        );
        const used = new Set([...sets, object && referred(object)]);
        const path = (name?: string) => apiPath(apiVersion, resourceOf(kind), { namespace: ref.namespace, name });
        const query = { labelSelector: `${POOL_KEY}=${pool},${MANAGED_BY_LABEL}=${MANAGED_BY}` };
        // Its API may be gone.
        const templates = await ignoreNotFound(
          readPages<Named, Named['metadata'] & object>(
            client,
            path(),
            { ...paging, query },
            ({ metadata }) => metadata,
          ),
        );
        for (const { name, uid } of templates ?? [])
          if (name && !used.has(name)) await deleteObject(client, path(name), uid, signal);
      }),
  };
}

function referred({ spec }: Wire<Referring>): string | undefined {
  return spec?.template?.spec?.infrastructureRef?.name;
}

/** Kinds of Cluster API are in the plural with an s: https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine */
function resourceOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof KubernetesError) || error.reason !== 'AlreadyExists') throw error;
}
