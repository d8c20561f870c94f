/**
 * A reflector with the semantics of client-go's. Not client-node's informer: it keeps whole objects, and any error but a 410 stops it.
 * docs/reference/performance.md compares its time and memory with those of client-go.
 */
import { Backoff } from './backoff.ts';
import { deadline } from './clock.ts';
import { failureOf, isExpired, isRefused, isTooLargeVersion, messageOf, StreamFailure } from './failure.ts';
import type { Clock, Identity, ListOptions, ListWatch, Logger, Unreadable, WatchEvent } from './ports.ts';
import { missedEvents, SilenceWatch } from './silence.ts';
import type { Store } from './store.ts';
import { compareVersions } from './version.ts';

/** Of a watch, as in client-go (minWatchTimeout, maxWatchTimeout). Random, so that watches do not all end together. */
const WATCH_SECONDS = { min: 300, max: 600 };
const LIST_TIMEOUT_MS = 60_000;
/** client-go's page size (tools/pager). The server's cache, which serves version "0", ignores it. */
const PAGE = 500;
/** kube-apiserver 1.36 sends a bookmark every minute, and one before the end of a watch. A watch without one for this long is suspect. */
const BOOKMARK_MS = 120_000;
/** A watch that ends sooner without an event counts as failed, so that it is retried with backoff. */
const SHORT_WATCH_MS = 1_000;
/** A watch that lasted this long and received something resets the backoff. */
const GOOD_WATCH_MS = 10_000;

/** For metrics. */
export interface ReflectorHooks {
  listed?(items: number): void;
  watchStarted?(): void;
  /** Counts changes and items of watch lists, without bookmarks. */
  events?(count: number): void;
  failed?(): void;
  /** The server was restored to an earlier state, which the store has now. Other collections may not show it. */
  rewound?(): void;
  /** An object was left out, because it cannot be decoded. */
  unreadable?(object: Unreadable): void;
  /** Called when it changes: true at the first failure, false when the watch works again and when the reflector stops. */
  failing?(now: boolean): void;
}

export interface ReflectorOptions<T> {
  /** The collection's name in logs, such as `nodes`. */
  readonly name: string;
  readonly source: ListWatch<T>;
  readonly identity: Identity<T>;
  readonly store: Store<T, string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Evenly distributed in [0, 1). */
  readonly random?: () => number;
  readonly hooks?: ReflectorHooks;
}

/**
 * Keeps a store in sync with a collection of the API server.
 *
 *     unsynced --watch list, or list--> current --watch--> current (server's time-out, cut, 429, 5xx: again from the last version)
 *        ^                                 |
 *        +------- version expired ---------+
 *
 * No event is lost or applied twice: a watch resumes at the last version that was applied, and the store rejects older items. It retries after
 * every failure, with jittered backoff.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  readonly #random: () => number;
  #current = false;
  /** `never` after the server rejected a watch list. `later`, until the next list, after one that did not complete. */
  #watchList: 'now' | 'later' | 'never' = 'now';
  /** Whether to list the most recent version, because the known one expired or is ahead of the server. */
  #newest = false;
  /** Whether the previous failure was an expired version. */
  #expired = false;
  #turn: ReturnType<typeof abortable> | undefined;
  /** See ReflectorHooks.failing. */
  #failing = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#backoff = new Backoff(options.clock, this.#random);
  }

  /** Runs until the signal aborts, then resolves without open streams and timers. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      using turn = abortable(signal);
      this.#turn = turn;
      try {
        await this.#step(turn.signal);
      } catch (error) {
        if (!turn.signal.aborted) await this.#recover(error, signal);
      }
      // A list that completed meanwhile may have been read before the request.
      if (turn.signal.aborted) this.#current = false;
    }
    this.#setFailing(false);
  }

  /** Lists everything again, because the source reads more of each item than before. Until then, known items stay. */
  relist(): void {
    this.#turn?.abort(new StreamFailure('a new list is needed'));
  }

  async #step(signal: AbortSignal): Promise<void> {
    if (!this.#current && this.#watchList !== 'now') await this.#list(signal);
    else if (this.#current && this.#failing) await this.#checkVersion(signal);
    await this.#watch(signal);
  }

  /**
   * After a failure, ensures that the server has reached the known version. One whose etcd was restored from a backup has not: a watch would be silent until it
   * does, and then receive later changes only.
   */
  async #checkVersion(signal: AbortSignal): Promise<void> {
    const { clock, name, source, store } = this.#options;
    using limit = deadline(clock, LIST_TIMEOUT_MS, signal, `listing one of ${name}`);
    const { resourceVersion } = await source.list({ resourceVersion: '', limit: 1 }, limit.signal);
    if (compareVersions(resourceVersion, store.version) >= 0) return;
    this.#newest = true;
    throw new StreamFailure('the API server has an earlier state than before', { reason: 'Expired' });
  }

  /** Decides on the next step after a failure, and waits for the backoff. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { name, log, clock, hooks } = this.#options;
    const failure = failureOf(error);
    hooks?.failed?.();
    this.#setFailing(true);
    const delay = Math.max(this.#backoff.next(), failure.retryAfterMs ?? 0);
    const expired = isExpired(failure);
    if (expired || isTooLargeVersion(failure)) {
      // First a list that is not older than the known version; if the server rejects that, the most recent one.
      this.#newest ||= !this.#current || isTooLargeVersion(failure);
      this.#current = false;
    } else if (
      !this.#current &&
      this.#watchList === 'now' &&
      (isRefused(failure) || error instanceof NoInitialEvents)
    ) {
      this.#watchList = isRefused(failure) ? 'never' : 'later';
    }
    // A first expiry is normal: the server compacts its history, or was restarted. Relist without a delay.
    const waits = expired && (this.#backoff.failures === 1 || !this.#expired) ? 0 : delay;
    this.#expired = expired;
    log.warn(
      { reflector: name, error: messageOf(error), status: failure.status, waitMs: Math.round(waits) },
      'list or watch failed',
    );
    await clock.sleep(waits, signal).catch(() => undefined);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { store, hooks } = this.#options;
    const resourceVersion = this.#newest ? '' : store.version || '0';
    // With a limit, the resourceVersion would mean "exact" and not "not older than" (Kubernetes API concepts, list semantics).
    const first =
      resourceVersion === '' || resourceVersion === '0' ? { resourceVersion, limit: PAGE } : { resourceVersion };
    const { items, version } = await this.#pages(first, signal);
    if (store.replace(items, version, { newest: resourceVersion === '' })) hooks?.rewound?.();
    hooks?.listed?.(items.length);
    this.#synced();
  }

  async #pages(first: ListOptions, signal: AbortSignal): Promise<{ items: T[]; version: string }> {
    const items: T[] = [];
    for (let options: ListOptions | undefined = first; options; ) {
      using limit = deadline(this.#options.clock, LIST_TIMEOUT_MS, signal, `listing ${this.#options.name}`);
      try {
        const page = await this.#options.source.list(options, limit.signal);
        for (const item of page.items) items.push(item);
        for (const object of page.unreadable ?? []) leaveOut(this.#options, object);
        if (!page.continueToken) return { items, version: page.resourceVersion };
        options = { resourceVersion: '', limit: PAGE, continueToken: page.continueToken };
      } catch (error) {
        if (!options.continueToken || !isExpired(failureOf(error))) throw error;
        // The snapshot of the pages was compacted: list without pages, as client-go's pager does.
        items.length = 0;
        options = { resourceVersion: '' };
      }
    }
    return { items, version: '' };
  }

  #synced(): void {
    this.#current = true;
    this.#newest = false;
    if (this.#watchList === 'later') this.#watchList = 'now';
  }

  #setFailing(failing: boolean): void {
    if (failing === this.#failing) return;
    this.#failing = failing;
    this.#options.hooks?.failing?.(failing);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, source, store, hooks } = this.#options;
    using attempt = abortable(signal);
    const started = clock.monotonic();
    let lastBrought = started;
    using silence = new SilenceWatch({
      clock,
      // A watch list can be slow to start.
      afterFailure: this.#failing && this.#current,
      check: () => this.#checkSilence(clock.monotonic() - lastBrought, attempt.signal),
      giveUp: (cause) => attempt.abort(cause),
    });
    const initial = this.#current ? undefined : new Map<string, T>();
    const resourceVersion = initial && this.#newest ? '' : store.version;
    const watch = new WatchRun(this.#options, initial, resourceVersion === '', () => this.#synced());
    hooks?.watchStarted?.();
    const options = {
      resourceVersion,
      sendInitialEvents: initial !== undefined,
      timeoutSeconds: this.#timeoutSeconds(),
    };
    try {
      for await (const events of source.watch(options, attempt.signal)) {
        silence.received();
        hooks?.events?.(withoutBookmarks(events));
        for (const event of events) watch.apply(event);
        if (events.length === 0 || watch.waitsForItems) continue;
        lastBrought = clock.monotonic();
        this.#setFailing(false);
      }
    } catch (error) {
      // The reason of the abort is the cause.
      throw attempt.signal.aborted ? attempt.signal.reason : error;
    } finally {
      if (watch.receivedAny && clock.monotonic() - started >= GOOD_WATCH_MS) this.#backoff.reset();
    }
    attempt.signal.throwIfAborted();
    if (watch.waitsForItems) throw new NoInitialEvents('the watch list ended before its items were complete');
    if (!watch.receivedAny) this.#doubtSilence(clock.monotonic() - started);
  }

  /** The watch ended without an event or a bookmark. */
  #doubtSilence(lastedMs: number): void {
    if (lastedMs < SHORT_WATCH_MS) throw new StreamFailure('the watch ended at once without an event');
    if (lastedMs >= BOOKMARK_MS) throw noBookmark();
    this.#setFailing(false);
  }

  async #checkSilence(silentMs: number, signal: AbortSignal): Promise<void> {
    const { source, store, identity, clock, name } = this.#options;
    if (!this.#current) throw new NoInitialEvents('the watch list was silent for too long');
    const missed = await missedEvents(source, () => store.version, identity.resourceVersion, clock, signal);
    if (missed) throw new StreamFailure(`the watch of ${name} missed changes that a second watch received`);
    if (silentMs >= BOOKMARK_MS) throw noBookmark();
    this.#setFailing(false);
  }

  #timeoutSeconds(): number {
    return Math.floor(WATCH_SECONDS.min + this.#random() * (WATCH_SECONDS.max - WATCH_SECONDS.min));
  }
}

/**
 * A server that was restored to an earlier state has not reached the version of the watch. It sends nothing until it does, to a second watch
 * neither. A list shows it.
 */
function noBookmark(): StreamFailure {
  return new StreamFailure('the watch received neither events nor bookmarks', { reason: 'Expired' });
}

/** A watch list did not complete: a server or proxy does not support it. */
class NoInitialEvents extends StreamFailure {}

/** Applies the events of one watch to the store. Holds back the items of a watch list until they are complete. */
class WatchRun<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #newest: boolean;
  readonly #onSynced: () => void;
  #initial: Map<string, T> | undefined;
  receivedAny = false;

  constructor(
    options: ReflectorOptions<T>,
    initial: Map<string, T> | undefined,
    newest: boolean,
    onSynced: () => void,
  ) {
    this.#options = options;
    this.#initial = initial;
    this.#newest = newest;
    this.#onSynced = onSynced;
  }

  get waitsForItems(): boolean {
    return this.#initial !== undefined;
  }

  apply(event: WatchEvent<T>): void {
    if (event.type === 'ERROR') throw new StreamFailure(event.message, event.failure);
    this.receivedAny = true;
    if (event.type === 'UNREADABLE') leaveOut(this.#options, event);
    else if (this.#initial) this.#collect(this.#initial, event);
    else if (event.type === 'BOOKMARK') this.#options.store.progress(event.resourceVersion);
    else if (event.type === 'DELETED') this.#options.store.remove(event.item);
    else this.#options.store.upsert(event.item);
  }

  #collect(initial: Map<string, T>, event: Exclude<WatchEvent<T>, { type: 'ERROR' | 'UNREADABLE' }>): void {
    const { identity, store, hooks } = this.#options;
    if (event.type === 'BOOKMARK') {
      if (!event.initialEventsEnd) return;
      if (store.replace(initial.values(), event.resourceVersion, { newest: this.#newest })) hooks?.rewound?.();
      hooks?.listed?.(initial.size);
      this.#initial = undefined;
      this.#onSynced();
    } else if (event.type === 'DELETED') initial.delete(identity.key(event.item));
    else initial.set(identity.key(event.item), event.item);
  }
}

function leaveOut<T>({ name, log, hooks }: ReflectorOptions<T>, object: Unreadable): void {
  log.error({ reflector: name, object: object.name, error: object.message }, 'object cannot be read; it is left out');
  hooks?.unreadable?.(object);
}

function withoutBookmarks(events: readonly WatchEvent<unknown>[]): number {
  let count = 0;
  for (const { type } of events) if (type !== 'BOOKMARK') count++;
  return count;
}

/** Returns a signal that aborts with its parent, or on its own. */
function abortable(parent: AbortSignal): Disposable & { signal: AbortSignal; abort(cause: unknown): void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (cause) => controller.abort(cause),
    [Symbol.dispose]: () => {
      // Ends what still runs for this attempt, such as a check of its silence.
      controller.abort();
      parent.removeEventListener('abort', follow);
    },
  };
}
