/** Reads lists page by page, so that a huge one is never in memory as a whole. */
import type { V1ListMeta } from '@kubernetes/client-node';
import type { KubernetesClient, Query } from './client.ts';
import { KubernetesError, MalformedData, TooLarge } from './kubernetesError.ts';
import type { Wire } from './objects.ts';

/** The largest page in bytes. A page takes several times as much memory while it is parsed. Ten of the largest pods, of 1.5 MiB, fit. */
export const LARGEST_LIST_PAGE = 16 * 1024 ** 2;

export interface PagesOptions {
  readonly query?: Query;
  /** Objects for each page. Pages that would be too large have fewer. */
  readonly limit: number;
  /** More objects are an error: a list that is cut would hide some. */
  readonly most: number;
  readonly signal: AbortSignal;
  /** Limits each request. Default 30 s. */
  readonly timeoutMs?: number;
}

/** The end of the last page of each client. */
const lastPages = new WeakMap<KubernetesClient, Promise<void>>();

/** Runs `read` when no other page of the client is being read: several large ones at a time would exceed the memory limit of the process. */
async function oneAtATime<T>(client: KubernetesClient, read: () => Promise<T>): Promise<T> {
  const before = lastPages.get(client);
  const { promise, resolve } = Promise.withResolvers<void>();
  lastPages.set(client, promise);
  await before;
  try {
    return await read();
  } finally {
    resolve();
  }
}

/**
 * Returns what `keep` returns for each object of the list, without undefined. Only these are kept in memory, so they must not refer to the object. Of
 * all lists of a client, one page is read at a time.
 */
export async function readPages<O, T>(
  client: KubernetesClient,
  path: string,
  { query, limit: mostInPage, most, signal, timeoutMs }: PagesOptions,
  keep: (object: Wire<O>) => T | undefined,
): Promise<readonly T[]> {
  const kept: T[] = [];
  let limit = mostInPage;
  let next: string | undefined;
  /** Reads a page, and returns the number of its objects. */
  const readPage = async (): Promise<number> => {
    const options = {
      query: { ...query, limit, continue: next },
      signal,
      maxBytes: LARGEST_LIST_PAGE,
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    const { items = [], metadata } = await client
      .request<{ items?: O[]; metadata?: V1ListMeta }>('GET', path, options)
      .catch(next === undefined ? undefined : rethrowExpired);
    for (const object of items) {
      const found = keep(object as Wire<O>);
      if (found !== undefined) kept.push(found);
    }
    next = metadata?.continue || undefined;
    return items.length;
  };
  for (let read = 0; read < most; ) {
    try {
      // A page that is not full counts as one: pages without objects must end, too.
      read += Math.max(await oneAtATime(client, readPage), limit);
      if (next === undefined) return kept;
    } catch (error) {
      if (!(error instanceof TooLarge) || limit === 1) throw error;
      limit = Math.ceil(limit / 10);
    }
  }
  throw new MalformedData(`a list of more than ${most} objects (GET ${path})`);
}

/** A token to continue is valid for some minutes. That it expired does not mean that the objects are gone. */
function rethrowExpired(error: unknown): never {
  if (error instanceof KubernetesError && error.status === 410)
    throw new KubernetesError(error.message, { reason: error.reason }, { cause: error });
  throw error;
}
