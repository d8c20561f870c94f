import type { Lease, LeaseClient, LeaseRecord } from '../runtime/ports.ts';
import type { KubernetesClient } from './client.ts';
import { isNotFound } from './errors.ts';
import { epochOf, type KubernetesObject, microTimeOf } from './objects.ts';

const API = 'coordination.k8s.io/v1';

interface LeaseJson extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** The Lease of this name, for a LeaderElector. */
export function createLeaseClient(client: KubernetesClient, namespace: string, name: string): LeaseClient {
  const collection = `/apis/${API}/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  const manifest = (record: LeaseRecord, resourceVersion?: string): object => ({
    apiVersion: API,
    kind: 'Lease',
    metadata: { name, namespace, ...(resourceVersion && { resourceVersion }) },
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: record.durationSeconds,
      acquireTime: microTimeOf(record.acquireTime),
      renewTime: microTimeOf(record.renewTime),
      leaseTransitions: record.transitions,
    },
  });
  return {
    read: async (signal) => {
      try {
        return leaseOf(await client.request<LeaseJson>('GET', path, { signal }));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    create: async (record, signal) =>
      leaseOf(await client.request<LeaseJson>('POST', collection, { body: manifest(record), signal })),
    update: async (record, resourceVersion, signal) =>
      leaseOf(await client.request<LeaseJson>('PUT', path, { body: manifest(record, resourceVersion), signal })),
  };
}

/** A Lease may lack everything: somebody can make an empty one by hand. That one is nobody's. */
function leaseOf({ metadata = {}, spec = {} }: LeaseJson): Lease {
  return {
    resourceVersion: metadata.resourceVersion ?? '',
    record: {
      holder: spec.holderIdentity ?? '',
      durationSeconds: spec.leaseDurationSeconds ?? 0,
      acquireTime: epochOf(spec.acquireTime),
      renewTime: epochOf(spec.renewTime),
      transitions: spec.leaseTransitions ?? 0,
    },
  };
}
