import type { ListWatch } from '../runtime/ports.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import type { KubernetesClient, Query } from './client.ts';
import { type Decoder, LARGEST_EVENT } from './decoder.ts';
import { toCallError } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';

const LIST_TIMEOUT_MS = 60_000;
/**
 * Of a whole collection in one response: the list that resumes a watch has no pages. 50,000 nodes of 17 KB in JSON, the longest format,
 * are 850 MB.
 */
const LARGEST_LIST = 1024 ** 3;

export interface ListWatchOptions<T> {
  readonly client: Pick<KubernetesClient, 'requestBytes' | 'stream'>;
  /** The collection, such as `/api/v1/nodes`. */
  readonly path: string;
  readonly decoder: Decoder<T>;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Limits the response to a list; a longer one is an error. Default 1 GiB. A page of `limit` objects is limited to as many of the largest, too. */
  readonly maxListBytes?: number;
}

/** Lists and watches a collection, for a Reflector. */
export function createListWatch<T>({
  client,
  path,
  decoder,
  maxListBytes = LARGEST_LIST,
  ...selectors
}: ListWatchOptions<T>): ListWatch<T> {
  return {
    list: async ({ resourceVersion, limit, continueToken }, signal) => {
      // The API server rejects a continue token together with a resourceVersion.
      const version = continueToken ? undefined : resourceVersion || undefined;
      const query: Query = { ...selectors, resourceVersion: version, limit, continue: continueToken };
      const options = {
        query,
        accept: decoder.accept.list,
        signal,
        timeoutMs: LIST_TIMEOUT_MS,
        maxBytes: Math.min(maxListBytes, (limit ?? Number.POSITIVE_INFINITY) * LARGEST_EVENT),
      };
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

/** client-go's default. */
const PAGE_SIZE = 500;

/** All items of a collection, page by page, from the API server. @param signalOf returns the signal of a page */
export async function listAll<T>({ list }: ListWatch<T>, signalOf: () => AbortSignal): Promise<readonly T[]> {
  const items: T[] = [];
  let continueToken: string | undefined;
  do {
    const options = { resourceVersion: '', limit: PAGE_SIZE, ...(continueToken && { continueToken }) };
    const page = await list(options, signalOf());
    items.push(...page.items);
    continueToken = page.continueToken || undefined;
  } while (continueToken);
  return items;
}

/**
 * The same collection, which also reports its state: a Reflector retries without end.
 * @param operation what the error says that failed
 * @param onResult receives the error of a list or watch that failed, and undefined after a success
 */
export function reportingListWatch<T>(
  source: ListWatch<T>,
  operation: string,
  onResult: (error?: CallError) => void,
): ListWatch<T> {
  const fail = (error: unknown): never => {
    if (error instanceof KubernetesError) onResult(toCallError(error, operation));
    throw error;
  };
  return {
    list: async (options, signal) => {
      const page = await source.list(options, signal).catch(fail);
      onResult();
      return page;
    },
    watch: async function* (options, signal) {
      try {
        for await (const events of source.watch(options, signal)) {
          onResult();
          yield events;
        }
      } catch (error) {
        fail(error);
      }
    },
  };
}
