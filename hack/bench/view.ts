import { realClock } from '../../controllers/runtime/clock.ts';
import type { Identity, ListWatch } from '../../controllers/runtime/ports.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { withDeadline } from '../controlplane/wait.ts';

/** A collection of the API server, from a watch. */
export interface View<T> extends AsyncDisposable {
  readonly store: Store<T>;
  /**
   * Resolves with the time (performance.now()) at which the predicate became true, or the current time. Rejects after the time-out with
   * some of the items.
   */
  until(what: string, predicate: (items: readonly T[]) => boolean, timeoutMs: number): Promise<number>;
  /** Waits for the first list. */
  listed(): Promise<void>;
}

const LIST_MS = 60_000;

/** Starts to follow the collection; `explain` describes an item in the error of a time-out. */
export function view<T>(
  name: string,
  source: ListWatch<T>,
  identity: Identity<T>,
  explain: (item: T) => string = (item) => identity.key(item),
): View<T> {
  const store = new Store({ identity, log: silentLog });
  const reflector = new Reflector({ name, source, identity, store, clock: realClock, log: silentLog });
  const ending = new AbortController();
  const running = reflector.run(ending.signal);
  const listed = () => withDeadline(store.synced, `the first list of ${name}`, LIST_MS);
  return {
    store,
    listed,
    until: async (what, predicate, timeoutMs) => {
      await listed();
      const { promise, resolve } = Promise.withResolvers<number>();
      const check = () => predicate(store.list()) && resolve(performance.now());
      using _subscription = store.subscribe(check);
      return await withDeadline(promise, what, timeoutMs).catch((error: Error) => {
        throw new Error(`${error.message}\n${store.list().slice(0, 3).map(explain).join('\n')}`);
      });
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
    },
  };
}
