import type { KubernetesClient } from './client.ts';
import { ignoreNotFound } from './errors.ts';

/** Deletes the object with this uid, and no other one that has its name by now. Resolves also if it is gone. `more`: other fields of DeleteOptions. */
export async function deleteObject(
  client: KubernetesClient,
  path: string,
  uid: string | undefined,
  signal: AbortSignal,
  more: { readonly propagationPolicy?: 'Foreground' } = {},
): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid }, ...more };
  await ignoreNotFound(client.request('DELETE', path, { body, signal }));
}
