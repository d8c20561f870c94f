import type { Clock } from './ports.ts';
import { TokenBucket } from './tokenBucket.ts';

/** For metrics. Times are in milliseconds. */
export interface WorkqueueHooks {
  added?(): void;
  depth?(waiting: number): void;
  taken?(waitedMs: number): void;
  finished?(workedMs: number): void;
  retried?(): void;
}

export interface WorkqueueOptions {
  readonly clock: Clock;
  /** Called once for each key that starts to wait. Call `take` once in response. */
  readonly onReady: () => void;
  readonly hooks?: WorkqueueHooks;
  /** The first delay of a retried key; it doubles with each retry. Default 5 ms. */
  readonly baseDelayMs?: number;
  /** Default 1000 s. */
  readonly maxDelayMs?: number;
  /** For all keys together. Default 10 retries per second with a burst of 100. */
  readonly retriesPerSecond?: number;
  readonly burst?: number;
  /** The longest wait for the rate limit of all keys: without it, a key that is retried all the time would delay all others by minutes. Default 5 s. */
  readonly maxRateDelayMs?: number;
  /** How often each key may run: an object that changes all the time must not take the time of others. Default 20 runs per second with a burst of 50. */
  readonly runsPerSecond?: number;
  readonly runBurst?: number;
}

const DEFAULTS = {
  baseDelayMs: 5,
  maxDelayMs: 1_000_000,
  retriesPerSecond: 10,
  burst: 100,
  maxRateDelayMs: 5_000,
  runsPerSecond: 20,
  runBurst: 50,
};

/**
 * A queue of keys with the semantics of client-go's workqueue, which client-node does not have:
 * - a key waits at most once, however often it is added;
 * - a key has at most one worker; if it is added while it runs, it waits again when it is done;
 * - of several delayed additions of a key, the earliest counts;
 * - a retry is delayed by the key's backoff or by the rate limit of all keys, whichever is longer;
 * - and, beyond client-go: a key that has run too often waits.
 *
 *     add --> waiting --take--> running --done--> (added meanwhile ? waiting : gone)
 */
export class Workqueue {
  readonly #options: Required<Omit<WorkqueueOptions, 'hooks'>>;
  readonly #hooks: WorkqueueHooks;
  readonly #bucket: TokenBucket;
  /** Key -> since when it waits, in order of arrival. */
  readonly #waiting = new Map<string, number>();
  /** Key -> since when it runs. */
  readonly #running = new Map<string, number>();
  /** Running keys that were added again -> since when. */
  readonly #dirty = new Map<string, number>();
  readonly #delayed = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  readonly #failures = new Map<string, number>();
  /** The rate limits of keys that have run of late. */
  readonly #runs = new Map<string, TokenBucket>();
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor({ hooks, ...options }: WorkqueueOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#hooks = hooks ?? {};
    const { retriesPerSecond, burst, maxRateDelayMs } = this.#options;
    this.#bucket = new TokenBucket(retriesPerSecond, burst, maxRateDelayMs);
  }

  /** The number of waiting keys. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** The number of running keys. */
  get running(): number {
    return this.#running.size;
  }

  /** How long each running key has been running, in milliseconds. */
  unfinished(): readonly number[] {
    const now = this.#options.clock.monotonic();
    return [...this.#running.values()].map((since) => now - since);
  }

  add(key: string): void {
    if (this.#stopped || this.#waiting.has(key) || this.#dirty.has(key)) return;
    this.#hooks.added?.();
    const now = this.#options.clock.monotonic();
    if (this.#running.has(key)) this.#dirty.set(key, now);
    else this.#enqueue(key, now);
  }

  /** How long a key that has run too often waits, in milliseconds. */
  #restMs(key: string, now: number): number {
    const runs = this.#runs.get(key);
    if (runs?.isFull(now)) this.#runs.delete(key);
    return runs?.waitMs(now) ?? 0;
  }

  #countRun(key: string, now: number): void {
    const { runsPerSecond, runBurst } = this.#options;
    const known = this.#runs.get(key);
    // Keys come and go.
    if (!known) for (const [other, runs] of this.#runs) if (runs.isFull(now)) this.#runs.delete(other);
    const runs = known ?? new TokenBucket(runsPerSecond, runBurst);
    this.#runs.set(key, runs);
    runs.tryTake(now);
  }

  /** Adds a key after `ms`, or earlier if an earlier addition is pending. */
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

  /** Adds a key after its backoff. */
  retry(key: string): void {
    if (this.#stopped) return;
    this.#hooks.retried?.();
    const { baseDelayMs, maxDelayMs, clock } = this.#options;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    // The exponent is bounded, so that the product stays finite.
    const own = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures, 60));
    this.addAfter(key, Math.max(own, this.#bucket.reserve(clock.monotonic())));
  }

  /** The number of retries since the key was last forgotten. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resets a key's backoff. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Returns the key that has waited longest; it runs until `done`. Undefined if none waits. */
  take(): string | undefined {
    for (const [key, since] of this.#waiting) {
      const now = this.#options.clock.monotonic();
      this.#waiting.delete(key);
      this.#running.set(key, now);
      this.#countRun(key, now);
      this.#hooks.depth?.(this.#waiting.size);
      this.#hooks.taken?.(now - since);
      return key;
    }
    return undefined;
  }

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

  /** Accepts no more keys, and drops waiting ones. Resolves when no key runs. */
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
    const restMs = this.#restMs(key, this.#options.clock.monotonic());
    if (restMs > 0) {
      this.addAfter(key, restMs);
      return;
    }
    this.#waiting.set(key, since);
    this.#hooks.depth?.(this.#waiting.size);
    this.#options.onReady();
  }
}
