import type { Clock } from './ports.ts';
import { TokenBucket } from './tokenBucket.ts';

/** What is measured about a workqueue; all times in milliseconds. */
export interface WorkqueueHooks {
  added?(): void;
  depth?(waiting: number): void;
  /** A key was taken after it had waited. */
  taken?(waitedMs: number): void;
  /** A key was done. */
  finished?(workedMs: number): void;
  retried?(): void;
}

export interface WorkqueueOptions {
  readonly clock: Clock;
  /** Called once for each key that begins to wait: somebody should `take` one. */
  readonly onReady: () => void;
  readonly hooks?: WorkqueueHooks;
  /** The first delay of a key that is retried; it doubles with each retry. Default 5 ms. */
  readonly baseDelayMs?: number;
  /** Default 1000 s. */
  readonly maxDelayMs?: number;
  /** All retries together. Default 10 a second, 100 at once. */
  readonly retriesPerSecond?: number;
  readonly burst?: number;
}

/**
 * Keys that want work, with the semantics of client-go's workqueue:
 * - a key waits at most once, however often it is added;
 * - a key is never handed out twice at once; added while it runs, it waits again when it is done;
 * - of several delayed additions of a key the earliest counts;
 * - retries of a key are delayed by its own growing backoff, and by a rate that all keys share, whichever is longer.
 *
 *     add --> waiting --take--> running --done--> (added meanwhile ? waiting : gone)
 */
export class Workqueue {
  readonly #options: Required<Omit<WorkqueueOptions, 'hooks'>>;
  readonly #hooks: WorkqueueHooks;
  readonly #bucket: TokenBucket;
  /** Key -> since when it waits. A Map keeps the order of arrival. */
  readonly #waiting = new Map<string, number>();
  /** Key -> since when it runs. */
  readonly #running = new Map<string, number>();
  /** Running keys that were added meanwhile -> since when. */
  readonly #dirty = new Map<string, number>();
  readonly #delayed = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  readonly #failures = new Map<string, number>();
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor({ hooks, ...options }: WorkqueueOptions) {
    this.#options = { baseDelayMs: 5, maxDelayMs: 1_000_000, retriesPerSecond: 10, burst: 100, ...options };
    this.#hooks = hooks ?? {};
    this.#bucket = new TokenBucket(this.#options.retriesPerSecond, this.#options.burst);
  }

  /** How many keys wait. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** How many keys run. */
  get running(): number {
    return this.#running.size;
  }

  /** For how long each running key has been running, in milliseconds. */
  unfinished(): readonly number[] {
    const now = this.#options.clock.monotonic();
    return [...this.#running.values()].map((since) => now - since);
  }

  /** Makes a key wait, now. */
  add(key: string): void {
    if (this.#stopped || this.#waiting.has(key) || this.#dirty.has(key)) return;
    this.#hooks.added?.();
    const now = this.#options.clock.monotonic();
    if (this.#running.has(key)) this.#dirty.set(key, now);
    else this.#enqueue(key, now);
  }

  /** Makes a key wait after a while, or earlier if that was asked for before. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.#options.clock.monotonic() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.timer[Symbol.dispose]();
    const timer = this.#options.clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  /** Makes a key wait after its backoff. */
  retry(key: string): void {
    if (this.#stopped) return;
    this.#hooks.retried?.();
    const { baseDelayMs, maxDelayMs, clock } = this.#options;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    // The exponent is bounded so that the product stays a number.
    const own = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures, 60));
    this.addAfter(key, Math.max(own, this.#bucket.reserve(clock.monotonic())));
  }

  /** How often a key was retried since it was last forgotten. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Ends a key's backoff: its next retry begins with the first delay. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The key that has waited longest, which runs from now until `done`; undefined when none waits. */
  take(): string | undefined {
    for (const [key, since] of this.#waiting) {
      const now = this.#options.clock.monotonic();
      this.#waiting.delete(key);
      this.#running.set(key, now);
      this.#hooks.depth?.(this.#waiting.size);
      this.#hooks.taken?.(now - since);
      return key;
    }
    return undefined;
  }

  /** The work for a taken key is over. */
  done(key: string): void {
    const since = this.#running.get(key);
    if (since === undefined) throw new Error(`done("${key}"): the key was not taken`);
    this.#running.delete(key);
    this.#hooks.finished?.(this.#options.clock.monotonic() - since);
    const dirtySince = this.#dirty.get(key);
    this.#dirty.delete(key);
    if (dirtySince !== undefined) this.#enqueue(key, dirtySince);
    if (this.#running.size === 0) this.#stopped?.resolve();
  }

  /** Takes nothing on any more, and drops what waits. Resolves when no key runs. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.withResolvers();
    for (const { timer } of this.#delayed.values()) timer[Symbol.dispose]();
    this.#delayed.clear();
    this.#waiting.clear();
    this.#dirty.clear();
    this.#hooks.depth?.(0);
    if (this.#running.size === 0) this.#stopped.resolve();
    return this.#stopped.promise;
  }

  #enqueue(key: string, since: number): void {
    this.#waiting.set(key, since);
    this.#hooks.depth?.(this.#waiting.size);
    this.#options.onReady();
  }
}
