import PQueue from 'p-queue';
import { deadline } from './clock.ts';
import { messageOf } from './failure.ts';
import { LeadershipLost } from './leaderElection.ts';
import type { Clock, Logger } from './ports.ts';
import { Workqueue, type WorkqueueHooks, type WorkqueueOptions } from './workqueue.ts';

/**
 * What to do with a key after a reconcile. `done`: nothing until something changes. `requeueAfter`: reconcile again in `ms`, and reset the
 * backoff. `requeue`: reconcile again with backoff; `cause` is logged.
 */
export type ReconcileResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeueAfter'; readonly ms: number }
  | { readonly kind: 'requeue'; readonly cause?: unknown };

/**
 * Brings the observed state of a key to the desired state. Level-triggered: it does not depend on the event that triggered it. The signal aborts at the
 * time-out, or when the process ends.
 */
type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** controller-runtime's values of the label `result`. */
export type ResultLabel = 'success' | 'requeue_after' | 'requeue' | 'error';

export interface ControllerHooks {
  started?(): void;
  ended?(result: ResultLabel, tookMs: number): void;
  queue?: WorkqueueHooks;
}

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Reconciles start once all of these are synced. */
  readonly sources: readonly { readonly synced: Promise<void> }[];
  readonly maxConcurrentReconciles: number;
  readonly timeoutMs: number;
  /** How long running reconciles may continue after the stop. Then their signal aborts. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly newId: () => string;
  readonly hooks?: ControllerHooks;
  readonly backoff?: Pick<WorkqueueOptions, 'baseDelayMs' | 'maxDelayMs' | 'retriesPerSecond' | 'burst'>;
}

/** How long a reconcile may take to return after its signal aborts. */
const ABORT_MS = 5_000;

/** Reconciles the keys of a workqueue, each key by one worker at a time. A reconcile that throws does not affect others. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: Workqueue;
  readonly #pool: PQueue;
  /** Aborts reconciles that still run after graceMs. */
  readonly #abort = new AbortController();

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#pool = new PQueue({ concurrency: options.maxConcurrentReconciles, autoStart: false });
    this.#queue = new Workqueue({
      clock: options.clock,
      hooks: options.hooks?.queue ?? {},
      ...options.backoff,
      // A job in the pool for each waiting key. It takes a key when it starts, so that keys wait in the queue, which deduplicates them.
      onReady: () => void this.#pool.add(() => this.#next()),
    });
  }

  /** For metrics. */
  get queue(): Pick<Workqueue, 'depth' | 'running' | 'unfinished'> {
    return this.#queue;
  }

  /** Can be called before `run`. */
  enqueue(key: string): void {
    this.#queue.add(key);
  }

  /**
   * Runs until the signal aborts. Then it waits up to graceMs for running reconciles, aborts the rest, and resolves. Aborts all at once if the lease
   * is lost. Rejects if a reconcile ignores the abort: work still runs, so the lease must not be released.
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
    await this.#drain(signal.reason instanceof LeadershipLost ? 0 : this.#options.graceMs, signal.reason);
    log.info({ controller: name }, 'controller stopped');
  }

  async #drain(graceMs: number, reason: unknown): Promise<void> {
    const { clock, name } = this.#options;
    const drained = this.#queue.stop();
    if (graceMs === 0) this.#abort.abort(reason);
    using _grace = clock.after(graceMs, () => {
      this.#abort.abort(new DOMException('the process is stopping', 'AbortError'));
    });
    const { promise: stuck, reject } = Promise.withResolvers<never>();
    using _bound = clock.after(graceMs + ABORT_MS, () => {
      reject(
        new Error(
          `${this.#queue.running} reconciliations of ${name} are still running ${(graceMs + ABORT_MS) / 1000} s after the stop`,
        ),
      );
    });
    await Promise.race([drained, stuck]);
  }

  /** Never rejects. */
  async #next(): Promise<void> {
    const key = this.#queue.take();
    if (key === undefined) return;
    const { name, clock, hooks, newId } = this.#options;
    const started = clock.monotonic();
    hooks?.started?.();
    const log = this.#options.log.child({ controller: name, key, reconcileID: newId() });
    const next = await this.#reconcile(key);
    const result = this.#requeue(key, next, log);
    log.debug({ result, ...(next.kind === 'requeueAfter' && { requeueAfterMs: next.ms }) }, 'reconciled');
    this.#queue.done(key);
    hooks?.ended?.(result, clock.monotonic() - started);
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { clock, timeoutMs, reconcile } = this.#options;
    using limit = deadline(clock, timeoutMs, this.#abort.signal, `the reconciliation of ${key}`);
    try {
      return await reconcile(key, limit.signal);
    } catch (error) {
      // The time-out is the cause of the error of the call that it interrupted.
      return {
        kind: 'requeue',
        cause: limit.signal.aborted ? limit.signal.reason : (error ?? new Error('the reconciler threw undefined')),
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
