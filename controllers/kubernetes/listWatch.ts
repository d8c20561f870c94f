import type { ListWatch } from '../runtime/ports.ts';
import type { KubernetesClient, Query } from './client.ts';
import type { Decoder } from './decoder.ts';

const LIST_TIMEOUT_MS = 60_000;

export interface ListWatchOptions<T> {
  readonly client: Pick<KubernetesClient, 'requestBytes' | 'stream'>;
  /** The collection, such as `/api/v1/nodes`. */
  readonly path: string;
  readonly decoder: Decoder<T>;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Lists and watches a collection, for a Reflector. */
export function createListWatch<T>({ client, path, decoder, ...selectors }: ListWatchOptions<T>): ListWatch<T> {
  return {
    list: async ({ resourceVersion, limit, continueToken }, signal) => {
      // The API server rejects a continue token together with a resourceVersion.
      const version = continueToken ? undefined : resourceVersion || undefined;
      const query: Query = { ...selectors, resourceVersion: version, limit, continue: continueToken };
      const options = { query, accept: decoder.accept.list, signal, timeoutMs: LIST_TIMEOUT_MS };
      return decoder.page(await client.requestBytes('GET', path, options));
    },
    watch: async function* ({ resourceVersion, sendInitialEvents, timeoutSeconds }, signal) {
      const initial = sendInitialEvents ? { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : {};
      const version = resourceVersion || undefined;
      const query: Query = {
        ...selectors,
        ...initial,
        watch: 1,
        allowWatchBookmarks: true,
        resourceVersion: version,
        timeoutSeconds,
      };
      const events = decoder.stream();
      for await (const piece of client.stream(path, { query, accept: decoder.accept.watch, signal })) {
        // Also if empty: any byte shows that the peer is alive.
        yield events.push(piece);
      }
      events.end();
    },
  };
}
