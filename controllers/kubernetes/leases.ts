import type { V1Lease } from '@kubernetes/client-node';
import type { Lease, LeaseClient, LeaseRecord } from '../runtime/ports.ts';
import type { KubernetesClient } from './client.ts';
import { isNotFound } from './errors.ts';
import { epochOf, microTimeOf, type Wire } from './objects.ts';

const API = 'coordination.k8s.io/v1';

/** The Lease of this name, for a LeaderElector. */
export function createLeaseClient(client: KubernetesClient, namespace: string, name: string): LeaseClient {
  const collection = `/apis/${API}/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  const manifest = (record: LeaseRecord, resourceVersion?: string): Wire<V1Lease> => ({
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
        return leaseOf(await client.request<V1Lease>('GET', path, { signal }));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    create: async (record, signal) =>
      leaseOf(await client.request<V1Lease>('POST', collection, { body: manifest(record), signal })),
    update: async (record, resourceVersion, signal) =>
      leaseOf(await client.request<V1Lease>('PUT', path, { body: manifest(record, resourceVersion), signal })),
  };
}

/** A Lease may lack everything: somebody can make an empty one by hand. That one is nobody's. */
function leaseOf({ metadata = {}, spec = {} }: Wire<V1Lease>): Lease {
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
