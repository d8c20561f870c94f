/** Every event of a watch, for tests that must see what lasts only a moment: a poll may look before and after it. */
import { createKubernetesClient } from '../../controllers/kubernetes/client.ts';
import { jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { createListWatch } from '../../controllers/kubernetes/listWatch.ts';
import type { KubernetesObject } from '../../controllers/kubernetes/objects.ts';
import { silentLog } from '../../controllers/runtime/silentLog.ts';
import { withDeadline } from '../controlplane/wait.ts';

export interface WatchedEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

export interface Watched {
  /** Ends the watch. Rejects with what ended it before, for then events may have been missed. */
  stop(): Promise<void>;
}

/** What stands in the user agent instead of the operator's version: the audit log must not take one for the other. */
export const WATCHER = 'watcher-of-tests';

const longerThanAnyTestSeconds = 3600;

/**
 * Watches a collection, such as `/api/v1/nodes`, and hands over each event in its order; what is there already comes first, as ADDED.
 * Resolves once all of that was handed over. What `onEvent` throws ends the watch.
 */
export async function watchEvents<T extends KubernetesObject>(
  kubeconfigPath: string,
  path: string,
  onEvent: (event: WatchedEvent<T>) => void,
): Promise<Watched> {
  const client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: WATCHER });
  const source = createListWatch<T>({ client, path, decoder: jsonDecoder((object: T) => object) });
  const aborts = new AbortController();
  const known = Promise.withResolvers<void>();
  const options = { resourceVersion: '', sendInitialEvents: true, timeoutSeconds: longerThanAnyTestSeconds };
  const follow = async (): Promise<void> => {
    for await (const events of source.watch(options, aborts.signal)) {
      for (const event of events) {
        if (event.type === 'ERROR') throw new Error(`the watch of ${path}: ${event.message}`);
        if (event.type !== 'BOOKMARK') onEvent({ type: event.type, object: event.item });
        else if (event.initialEventsEnd) known.resolve();
      }
    }
    throw new Error(`the server ended the watch of ${path}`);
  };
  let broken: unknown;
  const end = follow().catch((error: unknown) => {
    if (!aborts.signal.aborted) broken = error;
    known.resolve();
  });
  await withDeadline(known.promise, `what is in ${path}`, 30_000);
  return {
    async stop() {
      aborts.abort();
      await end;
      if (broken !== undefined) throw broken;
    },
  };
}
