import { messageOf } from './failure.ts';
import type { Change, Identity, Logger, StoreView } from './ports.ts';
import { compareVersions, newerVersion } from './version.ts';

/** The values by which an index finds an item. */
type IndexFunction<T> = (item: T) => readonly string[];

export interface StoreOptions<T, I extends string> {
  readonly identity: Identity<T>;
  readonly indexes?: Readonly<Record<I, IndexFunction<T>>>;
  readonly log: Logger;
}

export type ChangeListener<T> = (change: Change<T>) => void;

/**
 * A cache of a collection of the API server. An item never goes back to an older resourceVersion, in whatever order the watch, a relist and own
 * writes deliver it. Listeners receive each change once and in order; one that throws does not affect the others.
 */
export class Store<T, I extends string = never> implements StoreView<T> {
  readonly #identity: Identity<T>;
  readonly #log: Logger;
  readonly #items = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #listeners = new Set<ChangeListener<T>>();
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  #version = '';

  constructor({ identity, indexes, log }: StoreOptions<T, I>) {
    this.#identity = identity;
    this.#log = log;
    for (const [name, valuesOf] of Object.entries<IndexFunction<T>>(indexes ?? {})) {
      this.#indexes.set(name, new Index(valuesOf));
    }
  }

  /** Resolves at the first complete list. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Every change up to this version was applied. Empty before the first list. */
  get version(): string {
    return this.#version;
  }

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  list(): readonly T[] {
    return [...this.#items.values()];
  }

  byIndex(index: I, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (!found) throw new Error(`Unknown index ${index}; this store has: ${[...this.#indexes.keys()].join(', ')}`);
    return found.find(value);
  }

  /** Calls the listener with every item as an addition, then with every change. */
  subscribe(listener: ChangeListener<T>): Disposable {
    for (const [key, after] of this.#items) this.#notify(listener, { key, after });
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
      },
    };
  }

  /** Applies an ADDED or MODIFIED event. Ignored if it, or a newer version, was applied before. */
  upsert(item: T): void {
    if (this.#isNews(item)) this.#put(item);
    this.progress(this.#identity.resourceVersion(item));
  }

  /** Applies a DELETED event, which has the last state of the object. Ignored if the object was recreated since. */
  remove(item: T): void {
    const version = this.#identity.resourceVersion(item);
    const key = this.#identity.key(item);
    const known = this.#items.get(key);
    if (known !== undefined && compareVersions(this.#identity.resourceVersion(known), version) <= 0)
      this.#drop(key, known);
    this.progress(version);
  }

  /** Advances the version, as a bookmark does. */
  progress(version: string): void {
    this.#version = newerVersion(this.#version, version);
  }

  observeWrite(item: T): boolean {
    const known = this.#items.get(this.#identity.key(item));
    // An absent item at a version that the watch has passed was deleted since, and must not be added again.
    return this.#hasSynced && (known !== undefined || this.#isNews(item)) && this.#put(item);
  }

  /**
   * Applies a complete list at `version`: items that it lacks are removed, unless they are newer (own writes). `newest`: the list is the server's
   * most recent state. If it is older than the store, the server was restored to an earlier state, and the list replaces everything. Returns whether it was.
   */
  replace(items: Iterable<T>, version: string, { newest }: { readonly newest: boolean }): boolean {
    const rewound = newest && compareVersions(version, this.#version) < 0;
    const listed = new Set<string>();
    for (const item of items) {
      listed.add(this.#identity.key(item));
      this.#put(item, rewound);
    }
    for (const [key, known] of this.#items) {
      if (listed.has(key)) continue;
      if (!rewound && compareVersions(this.#identity.resourceVersion(known), version) > 0) continue;
      this.#drop(key, known);
    }
    this.#version = rewound ? version : newerVersion(this.#version, version);
    this.#hasSynced = true;
    this.#synced.resolve();
    return rewound;
  }

  /** Events are ordered by version, so one at or below `version` is a repetition. */
  #isNews(item: T): boolean {
    return compareVersions(this.#identity.resourceVersion(item), this.#version) > 0;
  }

  #put(item: T, rewound = false): boolean {
    const key = this.#identity.key(item);
    const before = this.#items.get(key);
    if (before !== undefined) {
      const order = compareVersions(this.#identity.resourceVersion(before), this.#identity.resourceVersion(item));
      if (order === 0 ? !this.#identity.completes?.(before, item) : order > 0 && !rewound) return false;
      if (this.#identity.absorbUnchanged?.(before, item)) return true;
    }
    this.#items.set(key, item);
    for (const index of this.#indexes.values()) index.replace(key, before, item);
    this.#publish(before === undefined ? { key, after: item } : { key, before, after: item });
    return true;
  }

  #drop(key: string, before: T): void {
    this.#items.delete(key);
    for (const index of this.#indexes.values()) index.replace(key, before, undefined);
    this.#publish({ key, before });
  }

  #publish(change: Change<T>): void {
    for (const listener of this.#listeners) this.#notify(listener, change);
  }

  #notify(listener: ChangeListener<T>, change: Change<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#log.error({ key: change.key, error: messageOf(error) }, 'a store listener failed');
    }
  }
}

/** Value -> key -> item. */
class Index<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #found = new Map<string, Map<string, T>>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  find(value: string): readonly T[] {
    const found = this.#found.get(value);
    return found ? [...found.values()] : [];
  }

  replace(key: string, before: T | undefined, after: T | undefined): void {
    const values = after === undefined ? [] : this.#valuesOf(after);
    for (const value of before === undefined ? [] : this.#valuesOf(before)) {
      if (!values.includes(value)) this.#remove(value, key);
    }
    if (after === undefined) return;
    for (const value of values) this.#bucket(value).set(key, after);
  }

  #bucket(value: string): Map<string, T> {
    const bucket = this.#found.get(value) ?? new Map<string, T>();
    this.#found.set(value, bucket);
    return bucket;
  }

  #remove(value: string, key: string): void {
    const bucket = this.#found.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) this.#found.delete(value);
  }
}
