/** The port LeaseClient. Our own, as the LeaderElector: client-node has no leader election, and its runtime takes 33 MB of memory. */
import type { V1Lease } from '@kubernetes/client-node';
import type { Lease, LeaseClient, LeaseRecord } from '../runtime/ports.ts';
import type { KubernetesClient } from './client.ts';
import { ignoreNotFound } from './errors.ts';
import { epochOf, microTimeOf, type Wire } from './objects.ts';
import { apiPath } from './paths.ts';

const API = 'coordination.k8s.io/v1';

/** A client of one Lease. */
export function createLeaseClient(client: KubernetesClient, namespace: string, name: string): LeaseClient {
  const path = apiPath(API, 'leases', { namespace, name });
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
    read: (signal) => ignoreNotFound(client.request<V1Lease>('GET', path, { signal }).then(leaseOf)),
    create: async (record, signal) =>
      leaseOf(
        await client.request<V1Lease>('POST', apiPath(API, 'leases', { namespace }), {
          body: manifest(record),
          signal,
          unfenced: true,
        }),
      ),
    update: async (record, resourceVersion, signal) =>
      leaseOf(
        await client.request<V1Lease>('PUT', path, { body: manifest(record, resourceVersion), signal, unfenced: true }),
      ),
  };
}

/** Every field is optional. A Lease without a holder is free. */
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
