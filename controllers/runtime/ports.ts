/**
 * What the engine needs from the world: time, a log, the API server's collections, a Lease and a place for events.
 * Adapters implement these ports; nothing in this folder knows a Kubernetes client.
 */

/** Time. Everything here takes its time from a Clock, so that tests decide how fast it runs. */
export interface Clock {
  /** Wall-clock time, epoch milliseconds. For what others read; never to measure how long something took. */
  now(): number;
  /** Milliseconds since some fixed moment; it never jumps. */
  monotonic(): number;
  /** Resolves after `ms`. Rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fn` once after `ms`, unless the answer is disposed first. */
  after(ms: number, fn: () => void): Disposable;
}

/** A structured log: facts as fields, a constant message. A pino logger is one. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger whose every line carries these fields as well. */
  child(fields: Record<string, unknown>): Logger;
}

/** How to tell items apart: functions, so that an item can have any shape and costs nothing extra. */
export interface Identity<T> {
  /** The name, or `namespace/name`: unique in the collection. */
  key(item: T): string;
  uid(item: T): string;
  /** The API server's version of the item, a decimal number of any length. */
  resourceVersion(item: T): string;
  /**
   * Gives the known item the version of a newer one where nothing else differs, and says whether it did. Then the known item stays and
   * nobody is told: most events of a collection may be heartbeats, and objects that live shortly cost the garbage collector nothing.
   */
  absorbUnchanged?(known: T, newer: T): boolean;
}

/**
 * What an error thrown by a port may carry. Anything else about it is opaque to the engine.
 * `status` is the HTTP status, absent when there was no answer. `reason` and `causes` are those of a Kubernetes Status.
 */
export interface ApiFailure {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly causes?: readonly string[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly item: T }
  /** The stream has delivered everything up to this version. `initialEventsEnd`: the list part of a watch list is complete. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly failure: ApiFailure; readonly message: string };

export interface ListOptions {
  /** `0`: whatever the server has cached. Empty: the newest. A version: not older than that one. */
  readonly resourceVersion: string;
  /** The most items of a page; absent: no pages. */
  readonly limit?: number;
  /** The token of the page before. */
  readonly continueToken?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  /** Watch list: first every item as ADDED, then a bookmark with `initialEventsEnd`, then the changes. */
  readonly sendInitialEvents: boolean;
  /** After this long the server ends the stream by itself. */
  readonly timeoutSeconds: number;
}

/** One collection of the API server. Errors that it throws may carry the fields of ApiFailure. */
export interface ListWatch<T> {
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * The collection's changes, a batch for each piece that came off the network: one wake-up for many events. Bookmarks are
   * always asked for. Throws when the server refuses, when the connection breaks, at a malformed event (never skips one), and
   * promptly when the signal aborts. Returns when the server ends the stream.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}

/** A change in a store: an addition has no `before`, a removal no `after`. The uid differs when the object was made anew. */
export interface Change<T> {
  readonly key: string;
  readonly before?: T;
  readonly after?: T;
}

/** A store to read from, and to show own writes to. `I` names its indexes. */
export interface StoreView<T, I extends string = string> {
  get(key: string): T | undefined;
  list(): readonly T[];
  readonly size: number;
  byIndex(index: I, value: string): readonly T[];
  /**
   * Puts in the answer to an own write, so that the next reconcile sees it before the watch brings it. Ignored when the store
   * already knows something newer, a deletion included. Whether it was taken.
   */
  observeWrite(item: T): boolean;
}

/** The content of a coordination.k8s.io Lease. Times are epoch milliseconds. */
export interface LeaseRecord {
  /** Empty: nobody holds it. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquireTime: number;
  readonly renewTime: number;
  /** How often the holder changed. */
  readonly transitions: number;
}

export interface Lease {
  readonly record: LeaseRecord;
  readonly resourceVersion: string;
}

/** One Lease object. Errors may carry the fields of ApiFailure. */
export interface LeaseClient {
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** Throws when there is one already. */
  create(record: LeaseRecord, signal: AbortSignal): Promise<Lease>;
  /** Throws, with status 409, when the Lease is no longer at `resourceVersion`. */
  update(record: LeaseRecord, resourceVersion: string, signal: AbortSignal): Promise<Lease>;
}

/** The object that an event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Absent: cluster-scoped. */
  readonly namespace?: string;
}

export interface EventSeries {
  readonly count: number;
  /** Epoch milliseconds. */
  readonly lastObservedTime: number;
}

/** An events.k8s.io/v1 Event. */
export interface EventRecord {
  readonly namespace: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly series?: EventSeries;
}

/** Where events are written. Errors may carry the fields of ApiFailure. */
export interface EventSink {
  create(event: EventRecord, signal: AbortSignal): Promise<void>;
  /** Throws, with status 404, when the event has expired meanwhile. */
  updateSeries(event: EventRecord, series: EventSeries, signal: AbortSignal): Promise<void>;
}

/** What one wants to say about an object. */
export interface EventMessage {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Takes events; never blocks and never throws. */
export interface EventPublisher {
  publish(regarding: ObjectReference, message: EventMessage): void;
}
