/** `--dry-run`: reads every pool once, prints the changes that are due, and writes nothing: no lease, status or event, and no call that changes AWS. */
import { checkApiServer } from '../../controllers/kubernetes/apiServerVersion.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { AwsCache } from '../../controllers/windowspool/awsCache.ts';
import { preview, previewText } from '../../controllers/windowspool/preview.ts';
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
    const awsCache = new AwsCache();
    const pools = [...caches.pools.list()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    if (pools.length === 0) print('No WindowsPools found.');
    let isComplete = true;
    for (const pool of pools) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(options.reconcileTimeoutMs)]);
      const result = await preview(pool, { awsCache, sources, settings: options, now: client.now(), signal: bounded });
      print(previewText(result));
      isComplete &&= result.isComplete;
    }
    return isComplete;
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
