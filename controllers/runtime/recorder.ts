import { deadline } from './clock.ts';
import { failureOf, messageOf } from './failure.ts';
import type { Clock, EventMessage, EventPublisher, EventRecord, EventSink, Logger, ObjectReference } from './ports.ts';
import { TokenBucket } from './tokenBucket.ts';

/** An event that is repeated within this time joins the series: client-go's finishTime (tools/events). */
const SERIES_MS = 6 * 60_000;
/** How often series that have ended are forgotten. */
const FORGET_MS = 60_000;
/** The shortest time between writes of a series. */
const SERIES_WRITE_MS = 60_000;
/** client-go's spam filter (tools/record): 25 events, then one every five minutes. For each reason of an object: one that repeats must not hide the others. */
const BURST = 25;
const PER_SECOND = 1 / 300;
/** Events that wait to be written. Beyond this, the oldest are dropped. */
const QUEUE_LIMIT = 1_000;
const WRITE_TIMEOUT_MS = 10_000;
const TRIES = 3;
/** The API's limits (k8s.io/kubernetes/pkg/apis/core/validation/events.go). */
const LIMITS = { note: 1024, reason: 128, action: 128, instance: 128, name: 253 };

export interface RecorderOptions {
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly log: Logger;
  /** The reportingController, such as `winpool.dev/operator`. */
  readonly controller: string;
  /** The reportingInstance, such as the pod's name. */
  readonly instance: string;
}

interface Entry {
  record: EventRecord;
  count: number;
  lastObserved: number;
  /** The count that was last written. */
  writtenCount: number;
  nextWrite: Disposable | undefined;
}

/**
 * Writes events.k8s.io/v1 Events. An event that is repeated within minutes becomes a series, so that a flapping condition does not flood the list.
 * `publish` returns at once. Events are written one at a time; if a write fails, only its event is lost. client-node has no recorder.
 */
export class Recorder implements EventPublisher {
  readonly #options: RecorderOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #queue: Entry[] = [];
  readonly #abort = new AbortController();
  #writing: Promise<void> | undefined;
  #sequence = 0;
  #stopped = false;
  /** When series were last forgotten, of the monotonic clock. */
  #forgotAt = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  publish(regarding: ObjectReference, message: EventMessage): EventMessage | undefined {
    if (this.#stopped) return undefined;
    this.#forgetOld();
    const { clock, log } = this.#options;
    // The key includes the note: two nodes that fail are two events, not a series.
    const key = JSON.stringify([regarding.kind, regarding.name, regarding.uid, message]);
    const known = this.#entries.get(key);
    if (known && !this.#hasEnded(known)) {
      known.count += 1;
      known.lastObserved = clock.now();
      this.#writeSeries(known);
      return undefined;
    }
    if (!this.#bucketOf(regarding, message.reason).tryTake(clock.monotonic())) {
      log.debug({ name: regarding.name, reason: message.reason }, 'event dropped: too many events about this object');
      return undefined;
    }
    const now = clock.now();
    const record = this.#record(regarding, message, now);
    const entry: Entry = { record, count: 1, lastObserved: now, writtenCount: 0, nextWrite: undefined };
    this.#entries.set(key, entry);
    this.#enqueue(entry);
    return record;
  }

  /** Accepts no more events, and writes waiting ones for up to `ms`. */
  async stop(ms: number): Promise<void> {
    this.#stopped = true;
    for (const entry of this.#entries.values()) {
      entry.nextWrite?.[Symbol.dispose]();
      if (entry.count > Math.max(entry.writtenCount, 1)) this.#enqueue(entry);
    }
    using _bound = this.#options.clock.after(ms, () => {
      this.#abort.abort(new DOMException('the process is stopping', 'AbortError'));
    });
    await this.#writing;
  }

  #record(regarding: ObjectReference, message: EventMessage, now: number): EventRecord {
    const { controller, instance } = this.#options;
    const suffix = `.${now.toString(16)}${(this.#sequence++ & 0xffff).toString(16).padStart(4, '0')}`;
    return {
      // Events about cluster-scoped objects live in "default", where kubectl describe looks for them.
      namespace: regarding.namespace ?? 'default',
      name: regarding.name.slice(0, LIMITS.name - suffix.length) + suffix,
      eventTime: now,
      type: message.type,
      reason: message.reason.slice(0, LIMITS.reason),
      action: message.action.slice(0, LIMITS.action),
      note: shorten(message.note, LIMITS.note),
      regarding,
      reportingController: controller,
      reportingInstance: instance.slice(0, LIMITS.instance),
    };
  }

  #bucketOf(regarding: ObjectReference, reason: string): TokenBucket {
    const key = `${regarding.kind}/${regarding.namespace ?? ''}/${regarding.name}/${reason}`;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(PER_SECOND, BURST);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** Forgets series that have ended, to bound memory; not at each of the thousands of events of a large cluster. */
  #forgetOld(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#forgotAt < FORGET_MS) return;
    this.#forgotAt = now;
    for (const [key, entry] of this.#entries) if (this.#hasEnded(entry)) this.#entries.delete(key);
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key);
  }

  #hasEnded({ lastObserved }: Entry): boolean {
    return this.#options.clock.now() - lastObserved >= SERIES_MS;
  }

  /** Writes the second occurrence at once, later ones at most once a minute. */
  #writeSeries(entry: Entry): void {
    if (entry.nextWrite) return;
    if (entry.count === 2) this.#enqueue(entry);
    entry.nextWrite = this.#options.clock.after(SERIES_WRITE_MS, () => {
      entry.nextWrite = undefined;
      if (entry.count > entry.writtenCount) this.#enqueue(entry);
    });
  }

  #enqueue(entry: Entry): void {
    if (this.#queue.includes(entry)) return;
    this.#queue.push(entry);
    if (this.#queue.length > QUEUE_LIMIT) {
      this.#queue.shift();
      this.#options.log.warn({ limit: QUEUE_LIMIT }, 'event dropped: too many events are pending');
    }
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let entry = this.#queue.shift(); entry && !this.#abort.signal.aborted; entry = this.#queue.shift()) {
      await this.#write(entry);
    }
    this.#writing = undefined;
  }

  /** Never rejects. */
  async #write(entry: Entry): Promise<void> {
    const { clock, log } = this.#options;
    for (let attempt = 1; !this.#abort.signal.aborted; attempt++) {
      try {
        await this.#send(entry);
        return;
      } catch (error) {
        const { status = 0, retryAfterMs = 0 } = failureOf(error);
        const again = (status === 0 || status === 429 || status >= 500) && attempt < TRIES;
        if (!again) {
          log.warn(
            { error: messageOf(error), reason: entry.record.reason, name: entry.record.regarding.name },
            'failed to write event',
          );
          return;
        }
        await clock.sleep(Math.max(retryAfterMs, 500 * 2 ** attempt), this.#abort.signal).catch(() => undefined);
      }
    }
  }

  async #send(entry: Entry): Promise<void> {
    const { sink, clock } = this.#options;
    using limit = deadline(clock, WRITE_TIMEOUT_MS, this.#abort.signal, 'writing an event');
    const { record, count } = entry;
    const isNew = entry.writtenCount === 0;
    if (count === 1) await sink.create(record, limit.signal);
    else {
      const series = { count, lastObservedTime: entry.lastObserved };
      try {
        if (isNew) await sink.create({ ...record, series }, limit.signal);
        else await sink.updateSeries(record, series, limit.signal);
      } catch (error) {
        // The API server deletes events after an hour, and a series can last longer.
        if (isNew || failureOf(error).status !== 404) throw error;
        await sink.create({ ...record, series }, limit.signal);
      }
    }
    entry.writtenCount = count;
  }
}

/** Truncates to a number of bytes, the unit of the API server's limits. */
function shorten(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let short = Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString();
  // A truncated character decodes to a replacement character, which would take more bytes.
  while (short.endsWith('\uFFFD')) short = short.slice(0, -1);
  return `${short}...`;
}
