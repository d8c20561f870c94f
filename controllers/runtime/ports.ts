/** The engine's ports: a clock, a log, collections of the API server, a Lease and events. Adapters implement them. */

/** The only source of time in the engine, so that tests control it. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. Not for measuring durations. */
  now(): number;
  /** Milliseconds since an arbitrary point; never jumps. */
  monotonic(): number;
  /** Resolves after `ms`. Rejects with the signal's reason when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fn` after `ms`, unless the result is disposed first. */
  after(ms: number, fn: () => void): Disposable;
}

/** A structured log with constant messages, except those of events. A pino logger is one. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Returns a logger that adds these fields to every line. */
  child(fields: Record<string, unknown>): Logger;
}

/** Keeps a process that no longer leads from writing. */
export interface Fence {
  /**
   * Throws if this process may not write now. Call it right before the bytes are sent, without waiting in between: the process can be paused at any
   * time, and then another one leads.
   */
  check(): void;
}

/** Identifies items. These are functions, so that an item can have any shape. */
export interface Identity<T> {
  /** The name or `namespace/name`, unique in the collection. */
  key(item: T): string;
  /** A decimal number of any length. */
  resourceVersion(item: T): string;
  /**
   * If the newer item differs only in its version, updates the known item and returns true. The known item is then kept, and listeners are not
   * called: most events can be heartbeats, and discarding the newer item at once is cheap for the garbage collector.
   */
  absorbUnchanged?(known: T, newer: T): boolean;
  /** Whether an item of the same version replaces the known one, because more of the object was read. Default: never. */
  completes?(known: T, newer: T): boolean;
}

/**
 * Optional fields of an error that a port throws. `status` is the HTTP status, absent without a response. `reason` and `causes` are those of a
 * Kubernetes Status.
 */
export interface ApiFailure {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly causes?: readonly string[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** An object of a collection that cannot be decoded. It is left out, so that it does not hide the others. */
export interface Unreadable {
  /** Empty if not even that can be read. */
  readonly name: string;
  readonly message: string;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly item: T }
  /** Every change up to this version was delivered. `initialEventsEnd`: the initial events of a watch list are complete. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | ({ readonly type: 'UNREADABLE' } & Unreadable)
  | { readonly type: 'ERROR'; readonly failure: ApiFailure; readonly message: string };

export interface ListOptions {
  /** `0`: any version in the cache. Empty: the most recent. Otherwise: not older than this. */
  readonly resourceVersion: string;
  /** The page size; absent: no pagination. */
  readonly limit?: number;
  /** From the previous page. */
  readonly continueToken?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly unreadable?: readonly Unreadable[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  /** A watch list: every item as ADDED, a bookmark with `initialEventsEnd`, then changes. */
  readonly sendInitialEvents: boolean;
  /** The server ends the stream after this time. */
  readonly timeoutSeconds: number;
}

/** A collection of the API server. Errors can have the fields of ApiFailure. */
export interface ListWatch<T> {
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * Streams changes, one batch for each chunk from the network, to save wake-ups. Always requests bookmarks. Throws if the server rejects the
   * request, if the connection breaks, at an event that is no event of Kubernetes, and when the signal aborts. Returns when the server ends the stream.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}

/** An addition has no `before`, a removal no `after`. If the object was recreated, the uid differs. */
export interface Change<T> {
  readonly key: string;
  readonly before?: T;
  readonly after?: T;
}

/** A read-only store, except for own writes. */
export interface StoreView<T> {
  get(key: string): T | undefined;
  /**
   * Adds the result of an own write, so that the next reconcile sees it before the watch does. Ignored if the store has a newer version or the
   * item was deleted. Returns whether it was added.
   */
  observeWrite(item: T): boolean;
}

/** The content of a coordination.k8s.io Lease. Times are epoch milliseconds. */
export interface LeaseRecord {
  /** Empty if the lease is free. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquireTime: number;
  readonly renewTime: number;
  readonly transitions: number;
}

export interface Lease {
  readonly record: LeaseRecord;
  readonly resourceVersion: string;
}

/** Errors can have the fields of ApiFailure. */
export interface LeaseClient {
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** Throws if the Lease exists. */
  create(record: LeaseRecord, signal: AbortSignal): Promise<Lease>;
  /** Throws with status 409 if the Lease is no longer at `resourceVersion`. */
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
export interface EventRecord extends EventMessage {
  readonly namespace: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  readonly regarding: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly series?: EventSeries;
}

/** Writes events. Errors can have the fields of ApiFailure. */
export interface EventSink {
  create(event: EventRecord, signal: AbortSignal): Promise<void>;
  /** Throws with status 404 if the event has expired. */
  updateSeries(event: EventRecord, series: EventSeries, signal: AbortSignal): Promise<void>;
}

/** The content of an event. */
export interface EventMessage {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Never blocks and never throws. */
export interface EventPublisher {
  /** Returns the event, shortened to the limits of the API; undefined if it repeats another one, or if there were too many. */
  publish(regarding: ObjectReference, message: EventMessage): EventMessage | undefined;
}
