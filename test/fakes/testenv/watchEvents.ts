/** Every event of a watch, for tests of states that are too short for polling. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { createKubernetesClient } from '../../../controllers/kubernetes/client.ts';
import { jsonDecoder } from '../../../controllers/kubernetes/decoder.ts';
import { createListWatch } from '../../../controllers/kubernetes/listWatch.ts';
import type { Wire } from '../../../controllers/kubernetes/objects.ts';
import type { WatchEvent } from '../../../controllers/runtime/ports.ts';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import { withDeadline } from '../../../hack/controlplane/wait.ts';

export interface WatchedEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

export interface Watched {
  /** Throws the error of `onEvent`, or WatchEnded. */
  check(): void;
  /** Ends the watch. Rejects where `check` would throw. */
  stop(): Promise<void>;
}

/** Replaces the operator's version in the user agent, so that the audit log distinguishes the two. */
export const WATCHER = 'watcher-of-tests';

/** The watch ended unexpectedly: events may have been missed. */
export class WatchEnded extends Error {
  override readonly name = 'WatchEnded';
}

/** Longer than any test. */
const timeoutSeconds = 3600;

/**
 * Watches a collection, such as `/api/v1/nodes`, and passes on each event in order; existing objects come first, as ADDED.
 * Resolves once all of those were passed on, or failed to be. An error of `onEvent` ends the watch.
 */
export async function watchEvents<T extends Wire<KubernetesObject>>(
  kubeconfigPath: string,
  path: string,
  onEvent: (event: WatchedEvent<T>) => void,
): Promise<Watched> {
  const client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: WATCHER });
  const source = createListWatch<T>({ client, path, decoder: jsonDecoder((object: T) => object) });
  const aborts = new AbortController();
  const known = Promise.withResolvers<void>();
  /** Of the last event; empty until all existing objects have been received. */
  let version = '';
  const take = (event: WatchEvent<T>): void => {
    if (event.type === 'ERROR') throw new WatchEnded(`the watch of ${path}: ${event.message}`);
    if (event.type === 'UNREADABLE') throw new WatchEnded(`the watch of ${path}: ${event.message}`);
    if (event.type === 'BOOKMARK') {
      if (event.initialEventsEnd) known.resolve();
      if (event.initialEventsEnd || version !== '') version = event.resourceVersion;
      return;
    }
    onEvent({ type: event.type, object: event.item });
    if (version !== '') version = event.item.metadata?.resourceVersion ?? version;
  };
  const follow = async (): Promise<void> => {
    // The server ends the watch of a slow reader. Watching again from the same resourceVersion loses no events.
    for (let before: string | undefined; before !== version; ) {
      before = version;
      const options = { resourceVersion: version, sendInitialEvents: version === '', timeoutSeconds };
      for await (const events of received(source.watch(options, aborts.signal), path))
        for (const event of events) take(event);
    }
    throw new WatchEnded(`the server ended the watch of ${path}, which had brought nothing`);
  };
  let broken: unknown;
  const end = follow()
    .catch((error: unknown) => {
      if (!aborts.signal.aborted) broken = error;
      known.resolve();
    })
    .finally(() => client.close());
  const check = () => {
    if (broken !== undefined) throw broken;
  };
  await withDeadline(known.promise, `what is in ${path}`, 30_000);
  return {
    check,
    async stop() {
      aborts.abort();
      await end;
      check();
    },
  };
}

/** The same events; errors are wrapped in WatchEnded. */
async function* received<T>(events: AsyncIterable<T>, path: string): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (cause) {
    throw new WatchEnded(`the watch of ${path} failed: ${(cause as Error).message}`, { cause });
  }
}
