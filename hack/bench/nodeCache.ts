/** Only the operator's cache of nodes: its client, list and watch, reflector and store. */
import { createKubernetesClient } from '../../controllers/kubernetes/client.ts';
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import {
  NODE_SELECTOR,
  type NodeIndex,
  nodeIdentity,
  nodeIndexes,
  nodeListWatch,
} from '../../controllers/kubernetes/nodes.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { Reflector, type ReflectorHooks } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';

export interface NodeCache {
  readonly store: Store<NodeRecord, NodeIndex>;
  stop(): Promise<void>;
}

/** Starts to follow the cluster's nodes, as caches.ts of the operator does. */
export async function startNodeCache(credentials: CredentialSource, hooks: ReflectorHooks = {}): Promise<NodeCache> {
  const client = await createKubernetesClient({ ...credentials, log: stderrLog, version: 'bench' });
  const store = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log: stderrLog });
  const reflector = new Reflector({
    name: 'nodes',
    source: nodeListWatch(client, NODE_SELECTOR),
    identity: nodeIdentity,
    store,
    clock: realClock,
    log: stderrLog,
    hooks,
  });
  const ending = new AbortController();
  const running = reflector.run(ending.signal);
  return {
    store,
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
