/** A server with one object in a collection, which ends its watches when the operator loses the permission to read it. For tests. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../../controllers/kubernetes/client.ts';
import { KubernetesError } from '../../../controllers/kubernetes/kubernetesError.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';

export class DeniableServer {
  denies = false;
  readonly #object: { readonly metadata: object };

  constructor(object: { readonly metadata: object }) {
    this.#object = { ...object, metadata: { ...object.metadata, resourceVersion: '7' } };
  }

  /** It only answers lists and watches. */
  get client(): KubernetesClient {
    return this as unknown as KubernetesClient;
  }

  async requestBytes(): Promise<Buffer> {
    this.#allow();
    return Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items: [this.#object] }));
  }

  async *stream(_path: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Buffer> {
    this.#allow();
    const object = { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const added = { type: 'ADDED', object: this.#object };
    yield Buffer.from(`${JSON.stringify(added)}\n${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    while (!this.denies && !signal.aborted) await sleep(5);
  }

  #allow(): void {
    if (this.denies) throw new KubernetesError('it is forbidden', { status: 403, reason: 'Forbidden' });
  }
}

/** A log that is not read. */
export const silent = {
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  error: () => undefined,
} as unknown as Logger;
