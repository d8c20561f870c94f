import PQueue from 'p-queue';
import { deadline } from './clock.ts';
import { messageOf } from './failure.ts';
import type { Clock, Logger } from './ports.ts';
import { Workqueue, type WorkqueueHooks, type WorkqueueOptions } from './workqueue.ts';

/**
 * What is next for a key. `rest`: nothing until something changes. `after`: again in `ms`; the backoff ends. `retry`: again with
 * backoff, because of `cause`.
 */
export type ReconcileResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeueAfter'; readonly ms: number }
  | { readonly kind: 'requeue'; readonly cause?: unknown };

interface ReconcileContext {
  /** Of this one run; in every line of `log`. */
  readonly id: string;
  /** Aborts when the time-out is over, or when the process must end. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Makes what a key stands for true. Starts from what is true now, never from what woke it. */
type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult>;

/** controller-runtime's values of the label `result`. */
export type ResultLabel = 'success' | 'requeue_after' | 'requeue' | 'error';

export interface ControllerHooks {
  /** A reconcile began. */
  started?(): void;
  ended?(result: ResultLabel, tookMs: number): void;
  queue?: WorkqueueHooks;
}

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** No reconcile runs before all of these are synced. */
  readonly sources: readonly { readonly synced: Promise<void> }[];
  /** How many keys run at once. */
  readonly maxConcurrentReconciles: number;
  readonly timeoutMs: number;
  /** How long running reconciles may go on after the stop; then their signal aborts. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes the id of a run. */
  readonly newId: () => string;
  readonly hooks?: ControllerHooks;
  readonly backoff?: Pick<WorkqueueOptions, 'baseDelayMs' | 'maxDelayMs' | 'retriesPerSecond' | 'burst'>;
}

/** After its signal aborted, a reconcile gets this long to come back. */
const ABORT_MS = 5_000;

/** Takes keys from a workqueue and reconciles them, a key never twice at once. A reconcile that throws hurts no other. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: Workqueue;
  readonly #pool: PQueue;
  /** Aborts the reconciles that still run when the grace is over. */
  readonly #abort = new AbortController();

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#pool = new PQueue({ concurrency: options.maxConcurrentReconciles, autoStart: false });
    this.#queue = new Workqueue({
      clock: options.clock,
      hooks: options.hooks?.queue ?? {},
      ...options.backoff,
      // One slot in the pool for each key that waits. Which key it serves is decided when it starts, so keys wait here, where
      // they are deduplicated, and not in the pool.
      onReady: () => void this.#pool.add(() => this.#next()),
    });
  }

  /** The keys, for those who measure them. */
  get queue(): Pick<Workqueue, 'depth' | 'running' | 'unfinished'> {
    return this.#queue;
  }

  /** Something about the key changed. May be called before `run`. */
  enqueue(key: string): void {
    this.#queue.add(key);
  }

  /** The key should be looked at after a while. */
  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /**
   * Works until the signal aborts, then lets running reconciles finish within the grace, aborts those that do not, and resolves.
   * Rejects when one ignores even that: then something still runs, and no lease may be released.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { name, sources, log, maxConcurrentReconciles: workers } = this.#options;
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const synced = Promise.all(sources.map((source) => source.synced));
    await Promise.race([synced, stopped]);
    if (!signal.aborted) {
      log.info({ controller: name, workers }, 'controller started');
      this.#pool.start();
      await stopped;
    }
    await this.#drain();
    log.info({ controller: name }, 'controller stopped');
  }

  async #drain(): Promise<void> {
    const { clock, graceMs, name } = this.#options;
    const drained = this.#queue.stop();
    using _grace = clock.after(graceMs, () => {
      this.#abort.abort(new DOMException('the process is ending', 'AbortError'));
    });
    const { promise: stuck, reject } = Promise.withResolvers<never>();
    using _bound = clock.after(graceMs + ABORT_MS, () => {
      reject(
        new Error(
          `${this.#queue.running} reconciles of ${name} still run ${(graceMs + ABORT_MS) / 1000} s after the stop`,
        ),
      );
    });
    await Promise.race([drained, stuck]);
  }

  /** Never rejects. */
  async #next(): Promise<void> {
    const key = this.#queue.take();
    if (key === undefined) return;
    const { clock, hooks } = this.#options;
    const started = clock.monotonic();
    hooks?.started?.();
    const id = this.#options.newId();
    const log = this.#options.log.child({ controller: this.#options.name, key, reconcileID: id });
    const next = await this.#reconcile(key, id, log);
    const result = this.#requeue(key, next, log);
    this.#queue.done(key);
    hooks?.ended?.(result, clock.monotonic() - started);
  }

  async #reconcile(key: string, id: string, log: Logger): Promise<ReconcileResult> {
    const { clock, timeoutMs, reconcile } = this.#options;
    using limit = deadline(clock, timeoutMs, this.#abort.signal, `the reconcile of ${key}`);
    try {
      return await reconcile(key, { id, signal: limit.signal, log });
    } catch (error) {
      // The time-out says more than the error of the call that it interrupted.
      return {
        kind: 'requeue',
        cause: limit.signal.aborted ? limit.signal.reason : (error ?? new Error('thrown without an error')),
      };
    }
  }

  #requeue(key: string, next: ReconcileResult, log: Logger): ResultLabel {
    if (next.kind === 'requeue') {
      this.#queue.retry(key);
      if (next.cause === undefined) return 'requeue';
      log.error(
        { error: messageOf(next.cause), retries: this.#queue.retries(key), stack: stackOf(next.cause) },
        'reconcile failed',
      );
      return 'error';
    }
    this.#queue.forget(key);
    if (next.kind === 'done') return 'success';
    this.#queue.addAfter(key, next.ms);
    return 'requeue_after';
  }
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
