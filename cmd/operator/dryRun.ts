/** `--dry-run`: reads every pool once, prints the changes that are due, and writes nothing: no lease, status or event, and no call that changes AWS. */
import { checkApiServer } from '../../controllers/kubernetes/apiServerVersion.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ReadCache } from '../../controllers/windowspool/observation/readCache.ts';
import { type Preview, preview, previewText } from '../../controllers/windowspool/preview.ts';
import { connect, portsOf } from './connections.ts';
import type { Options } from './options.ts';

/** How long the caches may take to sync. */
const SYNC_WITHIN_MS = 60_000;

/**
 * Prints a paragraph for each pool, sorted by name. Resolves to whether all pools could be read completely. Rejects when the cluster cannot be read,
 * or when the signal aborts.
 */
export async function dryRun(
  options: Options,
  version: string,
  log: Logger,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const choose = (pools: readonly WindowsPool[]) => {
    if (pools.length === 0) print('No WindowsPools found.');
    return pools.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };
  let isComplete = true;
  for await (const result of previews(options, version, log, choose, signal)) {
    print(previewText(result));
    isComplete &&= result.isComplete;
  }
  return isComplete;
}

/**
 * The previews of the pools that `choose` returns: of the pools of the cluster, or others, such as a manifest that is not applied yet. Throws when the
 * cluster cannot be read, or when the signal aborts.
 */
export async function* previews(
  options: Options & { readonly context?: string | undefined },
  version: string,
  log: Logger,
  choose: (pools: readonly WindowsPool[]) => readonly WindowsPool[],
  signal: AbortSignal,
): AsyncGenerator<Preview> {
  const connections = await connect(options, version, log, { check: () => undefined });
  const { client, aws, caches, serverVersion } = connections;
  const ending = new AbortController();
  const background = caches.run(ending.signal);
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(SYNC_WITHIN_MS)]);
    serverVersion.current = await client.serverVersion(inTime);
    const check = checkApiServer(serverVersion.current);
    if (check.kind === 'tooOld') throw new Error(check.message);
    await untilSynced(caches.stores, inTime);
    // Only the synced pools show which lists exist.
    await untilSynced([caches.lists], inTime);
    const sources = portsOf(options, connections);
    const readCache = new ReadCache();
    for (const pool of choose(caches.pools.list())) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(options.reconcileTimeoutMs)]);
      yield await preview(pool, { readCache, sources, settings: options, now: client.now(), signal: bounded });
    }
  } finally {
    ending.abort();
    await Promise.allSettled(background);
    aws.close();
    client.close();
  }
}

async function untilSynced(
  stores: readonly { readonly synced: Promise<unknown> }[],
  signal: AbortSignal,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () =>
    reject(
      new Error(
        `The cluster could not be read within ${SYNC_WITHIN_MS / 1_000}s. Check --kubeconfig and its permissions.`,
      ),
    );
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([Promise.all(stores.map(({ synced }) => synced)), promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
