/** What an operator would do for pools: reads the cluster and AWS as it does, and writes nothing: no lease, status or event, and no call that changes AWS. */
import { checkApiServer } from '../../controllers/kubernetes/apiServerVersion.ts';
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ReadCache } from '../../controllers/windowspool/observation/readCache.ts';
import { type Preview, preview } from '../../controllers/windowspool/preview.ts';
import { withDefaultTags } from '../../controllers/windowspool/providers/nodeGroups.ts';
import type { Caches } from '../operator/caches.ts';
import { connect, portsOf, settingsOf } from '../operator/connections.ts';
import type { Options } from '../operator/options.ts';
import { silentLog } from './cluster.ts';

/** How long the caches may take to sync. */
const SYNC_WITHIN_MS = 60_000;

/** The previews of pools, which may be manifests that are not applied yet. Throws when the cluster cannot be read, or when the signal aborts. */
export async function* previews(
  options: Options & Pick<CredentialSource, 'overrides'>,
  version: string,
  pools: readonly WindowsPool[],
  signal: AbortSignal,
): AsyncGenerator<Preview> {
  const connections = await connect(options, version, silentLog, { check: () => undefined });
  const { client, caches, serverVersion } = connections;
  const ending = new AbortController();
  const background = caches.run(ending.signal);
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(SYNC_WITHIN_MS)]);
    serverVersion.current = await client.serverVersion(inTime);
    const check = checkApiServer(serverVersion.current);
    if (check.kind === 'tooOld') throw new Error(check.message);
    await untilSynced(caches, inTime);
    const sources = portsOf(options, connections);
    const readCache = new ReadCache();
    const settings = settingsOf(options);
    const complete = withDefaultTags(settings.defaultTags);
    for (const pool of pools) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(options.reconcileTimeoutMs)]);
      yield await preview(complete(pool), { readCache, sources, settings, now: client.now(), signal: bounded });
    }
  } finally {
    ending.abort();
    await Promise.allSettled(background);
    connections.close();
  }
}

/** Rejects if the signal aborts before the caches are synced. */
async function untilSynced({ stores, lists, machineSets, nodePools }: Caches, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const message = `The cluster could not be read within ${SYNC_WITHIN_MS / 1_000}s. Check --kubeconfig and its permissions.`;
  signal.addEventListener('abort', () => reject(new Error(message)), { once: true });
  const synced = async () => {
    await Promise.all(stores.map((store) => store.synced));
    // Only the synced pools show which lists and Machines they need.
    await Promise.all([lists.synced, machineSets.synced, nodePools.synced]);
  };
  await Promise.race([synced(), aborted]);
}
