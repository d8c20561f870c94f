import { Reflector, type ReflectorOptions } from '../../controllers/runtime/reflector.ts';
import { Store, type StoreOptions } from '../../controllers/runtime/store.ts';
import type { CallError } from '../../controllers/windowspool/ports/callResult.ts';

type OnResult = (error?: CallError) => void;

interface OptionalCacheOptions<T, I extends string>
  extends Pick<ReflectorOptions<T>, 'name' | 'clock' | 'log' | 'hooks'>,
    Pick<StoreOptions<T, I>, 'identity' | 'indexes'> {
  /** The collection, which reports the error of a list or watch that failed, and undefined after a success. */
  readonly source: (onResult: OnResult) => ReflectorOptions<T>['source'];
  /** Called when it becomes known whether the collection can be listed. */
  readonly changed: () => void;
}

/** A cache that may stay empty, because not every operator may list its collection. */
export class OptionalCache<T, I extends string = never> {
  readonly store: Store<T, I>;
  readonly #reflector: Reflector<T>;
  readonly #answered = Promise.withResolvers<void>();
  readonly #changed: () => void;
  #error: CallError | undefined;

  constructor({ source, changed, ...options }: OptionalCacheOptions<T, I>) {
    this.#changed = changed;
    this.store = new Store(options);
    this.#reflector = new Reflector({
      ...options,
      source: source((error) => this.#onResult(error)),
      store: this.store,
    });
    // Never rejects.
    void this.store.synced.then(() => this.#onResult(undefined));
  }

  /** Resolves when the collection was listed, or that failed. */
  get synced(): Promise<void> {
    return this.#answered.promise;
  }

  /** Why the items are unknown; undefined: they are known. */
  get unknown(): { readonly kind: 'unknown'; readonly error?: CallError } | undefined {
    if (this.store.hasSynced && this.#error?.kind !== 'denied') return undefined;
    return { kind: 'unknown', ...(this.#error && { error: this.#error }) };
  }

  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** A list stays valid while the server is unavailable, but not when the permission is lost: its changes are unknown then. */
  #onResult(error: CallError | undefined): void {
    if (this.store.hasSynced && error && error.kind !== 'denied') return;
    if (!this.store.hasSynced && !error) return;
    this.#answered.resolve();
    if (this.#error?.message === error?.message) return;
    this.#error = error;
    this.#changed();
  }
}
