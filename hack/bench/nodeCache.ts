/** Only the operator's cache of nodes. */
import { NodeCache } from '../../cmd/operator/nodeCache.ts';
import { createKubernetesClient } from '../../controllers/kubernetes/client.ts';
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { ReflectorHooks } from '../../controllers/runtime/reflector.ts';

export interface RunningNodeCache extends Pick<NodeCache, 'store'> {
  stop(): Promise<void>;
}

/** Starts to follow the cluster's nodes. */
export async function startNodeCache(
  credentials: CredentialSource,
  { readsImages = false, hooks = {} }: { readonly readsImages?: boolean; readonly hooks?: ReflectorHooks } = {},
): Promise<RunningNodeCache> {
  const client = await createKubernetesClient({ ...credentials, log: stderrLog, version: 'bench' });
  const cache = new NodeCache(client, { name: 'nodes', clock: realClock, log: stderrLog, hooks });
  if (readsImages) cache.needImages();
  const ending = new AbortController();
  const running = cache.run(ending.signal);
  return {
    store: cache.store,
    stop: async () => {
      ending.abort();
      await running;
      client.close();
    },
  };
}

/** Only errors, to standard error, because standard output is for results. */
const stderrLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => console.error(message, JSON.stringify(fields)),
  error: (fields, message) => console.error(message, JSON.stringify(fields)),
  child: () => stderrLog,
};
