import { StreamFailure } from '../failure.ts';
import type { Clock, Identity, ListOptions, ListPage, ListWatch, WatchEvent, WatchOptions } from '../ports.ts';
import { compareVersions } from '../version.ts';

export interface SimulatedItem {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly value: number;
}

export const simulatedIdentity: Identity<SimulatedItem> = {
  key: (item) => item.key,
  resourceVersion: (item) => item.resourceVersion,
};

/**
 * A fault of one request. `cut`: the connection breaks after some events. `repeat`: the stream starts with events that were already delivered.
 * `deaf`: the stream stays open without data. `slow`: every batch is late. `stale`: a list from an outdated cache. `short`: the server ends the
 * stream at once.
 */
export type Fault =
  | 'none'
  | 'refused'
  | 'busy'
  | 'failed'
  | 'expired'
  | 'cut'
  | 'repeat'
  | 'deaf'
  | 'slow'
  | 'stale'
  | 'short';

interface LogEntry {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly item: SimulatedItem;
}

/** A collection of an API server with its history, for tests. Has watch lists, pages, bookmarks, compaction, and faults on demand. */
export class SimulatedServer implements ListWatch<SimulatedItem> {
  readonly #clock: Clock;
  readonly items = new Map<string, SimulatedItem>();
  readonly log: LogEntry[] = [];
  /** Faults of the next requests, in order. Later requests have none. */
  readonly faults: Fault[] = [];
  /** Every request, such as `watch list`, `watch 12`, `list 0`. */
  readonly requests: string[] = [];
  /** Whether watch lists are supported. */
  watchLists = true;
  pageSize = 3;
  #version = 100;
  #compacted = 0;
  #uids = 0;
  #wakeUps = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The version of the last change. */
  get version(): string {
    return String(this.#version);
  }

  write(key: string, value: number): SimulatedItem {
    const before = this.items.get(key);
    const uid = before?.uid ?? `uid-${++this.#uids}`;
    const item = { key, uid, resourceVersion: String(++this.#version), value };
    this.items.set(key, item);
    this.#record({ type: before ? 'MODIFIED' : 'ADDED', item });
    return item;
  }

  delete(key: string): void {
    const before = this.items.get(key);
    if (!before) return;
    this.items.delete(key);
    this.#record({ type: 'DELETED', item: { ...before, resourceVersion: String(++this.#version) } });
  }

  /** Drops the history: watches from earlier versions expire. */
  compact(): void {
    this.#compacted = this.#version;
    this.#wake();
  }

  /** Empties the collection and goes back to an earlier version, as a restored backup does. */
  rewind(): void {
    this.items.clear();
    this.log.length = 0;
    this.#version = 50;
    this.#compacted = 50;
    this.#wake();
  }

  async list(options: ListOptions, signal: AbortSignal): Promise<ListPage<SimulatedItem>> {
    this.requests.push(`list ${options.continueToken ?? options.resourceVersion}`);
    const fault = this.faults.shift() ?? 'none';
    await this.#open(fault, signal);
    if (compareVersions(options.resourceVersion, String(this.#version)) > 0) throw tooLarge();
    // The cache is outdated, but not older than the requested version.
    const floor = Math.max(this.#compacted, Number(options.resourceVersion));
    const lag =
      fault === 'stale' && options.resourceVersion !== '' ? Math.max(floor, this.#version - 3) : this.#version;
    const [version = lag, from = 0] = options.continueToken?.split('/').map(Number) ?? [];
    if (version < this.#compacted) throw expired();
    const all = this.#at(version);
    const paged = options.limit !== undefined && options.resourceVersion !== '0';
    const items = paged ? all.slice(from, from + this.pageSize) : all;
    const page = { items, resourceVersion: String(version) };
    return paged && from + this.pageSize < all.length
      ? { ...page, continueToken: `${version}/${from + this.pageSize}` }
      : page;
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<SimulatedItem>[]> {
    this.requests.push(
      options.sendInitialEvents ? `watch list ${options.resourceVersion}`.trim() : `watch ${options.resourceVersion}`,
    );
    const fault = this.faults.shift() ?? 'none';
    await this.#open(fault, signal);
    if (fault === 'expired') yield [errorEvent()];
    if (options.sendInitialEvents && !this.watchLists)
      throw new StreamFailure('sendInitialEvents is forbidden', { status: 422 });
    if (compareVersions(options.resourceVersion, String(this.#version)) > 0) {
      if (options.sendInitialEvents) throw tooLarge();
      // Like the API server, sends nothing until it reaches the version.
      await this.#news(options.timeoutSeconds * 1_000, signal);
      return;
    }
    if (fault === 'short') return;
    let batches = fault === 'cut' ? 2 : Number.POSITIVE_INFINITY;
    for await (const batch of this.#stream(options, fault, signal)) {
      if (batches-- <= 0) throw new StreamFailure('read ECONNRESET');
      if (fault === 'slow') await this.#clock.sleep(20_000, signal);
      yield batch;
    }
  }

  async *#stream(
    options: WatchOptions,
    fault: Fault,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<SimulatedItem>[]> {
    const ends = this.#clock.monotonic() + options.timeoutSeconds * 1000;
    let from = Number(options.resourceVersion);
    if (options.sendInitialEvents) {
      from = this.#version;
      // A bookmark without initialEventsEnd does not end the items.
      for (const item of this.#at(from))
        yield [
          { type: 'BOOKMARK', resourceVersion: String(from), initialEventsEnd: false },
          { type: 'ADDED', item },
        ];
      // Changes can come before the end of the items.
      const news = this.#since(from);
      from = this.#version;
      yield [...news, { type: 'BOOKMARK', resourceVersion: String(from), initialEventsEnd: true }];
    }
    if (fault === 'repeat') from = Math.min(from, Math.max(this.#compacted, from - 4));
    for (let left = ends - this.#clock.monotonic(); left > 0; left = ends - this.#clock.monotonic()) {
      if (from < this.#compacted) yield [errorEvent()];
      const news = this.#since(from);
      if (fault !== 'deaf') {
        from = this.#version;
        yield news.length > 0 ? news : [{ type: 'BOOKMARK', resourceVersion: String(from), initialEventsEnd: false }];
      }
      if (fault === 'deaf' || from === this.#version) await this.#news(Math.min(left, 60_000), signal);
    }
  }

  async #open(fault: Fault, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (fault === 'slow') await this.#clock.sleep(5_000, signal);
    if (fault === 'refused') throw new StreamFailure('connect ECONNREFUSED');
    if (fault === 'busy') throw new StreamFailure('too many requests', { status: 429, retryAfterMs: 3_000 });
    if (fault === 'failed') throw new StreamFailure('internal error', { status: 500 });
  }

  #since(version: number): LogEntry[] {
    return this.log.filter(({ item }) => Number(item.resourceVersion) > version);
  }

  /** The collection at a version. */
  #at(version: number): SimulatedItem[] {
    if (version === this.#version) return [...this.items.values()];
    const items = new Map<string, SimulatedItem>();
    for (const { type, item } of this.log) {
      if (Number(item.resourceVersion) > version) break;
      if (type === 'DELETED') items.delete(item.key);
      else items.set(item.key, item);
    }
    return [...items.values()];
  }

  #record(entry: LogEntry): void {
    this.log.push(entry);
    this.#wake();
  }

  #wake(): void {
    for (const wakeUp of this.#wakeUps) wakeUp();
  }

  /** Waits for a change, for up to `ms`. Rejects when the signal aborts. */
  async #news(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const end = (finish: () => void): void => {
        timer[Symbol.dispose]();
        this.#wakeUps.delete(wakeUp);
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      const wakeUp = (): void => end(resolve);
      const onAbort = (): void => end(() => reject(signal.reason));
      const timer = this.#clock.after(ms, wakeUp);
      this.#wakeUps.add(wakeUp);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

function errorEvent(): WatchEvent<SimulatedItem> {
  return { type: 'ERROR', failure: { status: 410, reason: 'Expired' }, message: 'too old resource version' };
}

function expired(): StreamFailure {
  return new StreamFailure('the continue token is too old', { status: 410, reason: 'Expired' });
}

function tooLarge(): StreamFailure {
  return new StreamFailure('Too large resource version', {
    status: 504,
    reason: 'Timeout',
    causes: ['ResourceVersionTooLarge'],
  });
}
