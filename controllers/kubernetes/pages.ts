/** Reads a list page by page, so that a huge one is never in memory as a whole. */
import type { V1ListMeta } from '@kubernetes/client-node';
import { type KubernetesClient, LARGEST_PAGE, type Query } from './client.ts';
import { KubernetesError, MalformedData } from './kubernetesError.ts';
import type { Wire } from './objects.ts';

export interface PagesOptions {
  readonly query?: Query;
  /** Objects for each page. */
  readonly limit: number;
  /** More are an error: a list that is cut would hide objects. */
  readonly mostPages: number;
  readonly signal: AbortSignal;
  /** Limits each request. Default 30 s. */
  readonly timeoutMs?: number;
}

/** Returns what `keep` returns for each object of the list, without undefined. Only these are kept in memory. */
export async function readPages<O, T>(
  client: KubernetesClient,
  path: string,
  { query, limit, mostPages, signal, timeoutMs }: PagesOptions,
  keep: (object: Wire<O>) => T | undefined,
): Promise<readonly T[]> {
  const kept: T[] = [];
  let next: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const options = {
      query: { ...query, limit, continue: next },
      signal,
      maxBytes: LARGEST_PAGE,
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    const { items, metadata } = await client
      .request<{ items?: O[]; metadata?: V1ListMeta }>('GET', path, options)
      .catch(next === undefined ? undefined : rethrowExpired);
    for (const object of items ?? []) {
      const found = keep(object as Wire<O>);
      if (found !== undefined) kept.push(found);
    }
    next = metadata?.continue || undefined;
    if (next === undefined) return kept;
  }
  throw new MalformedData(`a list of more than ${limit * mostPages} objects (GET ${path})`);
}

/** A token to continue is valid for some minutes. That it expired does not mean that the objects are gone. */
function rethrowExpired(error: unknown): never {
  if (error instanceof KubernetesError && error.status === 410)
    throw new KubernetesError(error.message, { reason: error.reason }, { cause: error });
  throw error;
}
