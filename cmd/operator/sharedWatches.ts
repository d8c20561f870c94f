import { realClock } from '../../controllers/runtime/clock.ts';
import { TokenBucket } from '../../controllers/runtime/tokenBucket.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { same } from '../../controllers/windowspool/util/sameValue.ts';

interface SharedWatchesOptions<T, W> {
  /** Watches that are open at a time: each occupies connections to the API server, and with too many, none is left for the Lease. */
  readonly most: number;
  /** How many may start at once, and then each second: a pool can name another target all the time. */
  readonly starts: { readonly atOnce: number; readonly perSecond: number };
  /** Targets with equal keys share a watch. */
  readonly keyOf: (target: T) => string;
  /** Starts a watch, which ends when the signal aborts. @param targets those that share it now, by the names of their pools */
  readonly open: (first: T, targets: ReadonlyMap<string, T>, signal: AbortSignal) => W;
  /** Called for each pool, other than the one that is followed, that gets or loses a watch. */
  readonly changed: (pool: string) => void;
}

interface Shared<T, W> {
  readonly watch: W;
  readonly targets: Map<string, T>;
  readonly ending: AbortController;
}

interface Named<T> {
  readonly target: T;
  /** The oldest pool has the lowest one. */
  readonly rank: string;
}

/** Watches of what pools refer to: each is open while a pool needs it. If there are too many, those of the oldest pools are. */
export class SharedWatches<T, W> {
  readonly #options: SharedWatchesOptions<T, W>;
  readonly #shared = new Map<string, Shared<T, W>>();
  /** What each pool refers to. */
  readonly #named = new Map<string, Named<T>>();
  readonly #starts: TokenBucket;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: SharedWatchesOptions<T, W>) {
    this.#options = options;
    this.#starts = new TokenBucket(options.starts.perSecond, options.starts.atOnce);
  }

  /** Watches the target that the pool refers to now; undefined: none, or the pool was deleted. */
  follow(pool: string, object: Pick<WindowsPool, 'metadata'> | undefined, target: T | undefined): void {
    const named = object && target && { target, rank: `${object.metadata.creationTimestamp} ${pool}` };
    // Each change of a pool's status comes here.
    if (same(this.#named.get(pool), named)) return;
    if (named) this.#named.set(pool, named);
    else this.#named.delete(pool);
    this.#assign(pool);
  }

  /** What the pool refers to. */
  targetOf(pool: string): T | undefined {
    return this.#named.get(pool)?.target;
  }

  /** The watch of a target; undefined if none is open. */
  watchOf(target: T): W | undefined {
    return this.#shared.get(this.#options.keyOf(target))?.watch;
  }

  /** The open watches. */
  get open(): readonly W[] {
    return [...this.#shared.values()].map(({ watch }) => watch);
  }

  /** Whether no other watch can be opened. */
  get isFull(): boolean {
    return this.#shared.size >= this.#options.most;
  }

  /** Ends all watches. */
  stop(): void {
    clearTimeout(this.#retry);
    for (const { ending } of this.#shared.values()) ending.abort();
  }

  /** Ends and starts watches, so that those of the oldest pools are open. Reports the pools, other than the one that has changed, that get or lose one. */
  #assign(changed: string): void {
    const wanted = this.#wanted();
    const moved: string[] = [];
    for (const [key, { targets, ending }] of this.#shared) {
      const stay = wanted.get(key);
      for (const pool of [...targets.keys()]) if (!stay?.has(pool) && targets.delete(pool)) moved.push(pool);
      if (targets.size > 0) continue;
      ending.abort();
      this.#shared.delete(key);
    }
    for (const [key, targets] of wanted) {
      const [first] = targets.values();
      const shared = this.#shared.get(key) ?? (first && this.#mayStart() ? this.#start(key, first) : undefined);
      if (!shared) continue;
      for (const [pool, target] of targets) {
        if (!shared.targets.has(pool)) moved.push(pool);
        shared.targets.set(pool, target);
      }
    }
    for (const pool of new Set(moved)) if (pool !== changed && this.#named.has(pool)) this.#options.changed(pool);
  }

  /** The targets of each watch that should be open, by the names of their pools. */
  #wanted(): Map<string, Map<string, T>> {
    const byAge = [...this.#named].sort(([, a], [, b]) => (a.rank < b.rank ? -1 : 1));
    const wanted = new Map<string, Map<string, T>>();
    for (const [pool, { target }] of byAge) {
      const key = this.#options.keyOf(target);
      const known = wanted.get(key);
      if (known) known.set(pool, target);
      else if (wanted.size < this.#options.most) wanted.set(key, new Map([[pool, target]]));
    }
    return wanted;
  }

  #start(key: string, first: T): Shared<T, W> {
    const targets = new Map<string, T>();
    const ending = new AbortController();
    const shared = { watch: this.#options.open(first, targets, ending.signal), targets, ending };
    this.#shared.set(key, shared);
    return shared;
  }

  /** Whether a watch may start now. If not, that is tried again. */
  #mayStart(): boolean {
    const now = realClock.monotonic();
    if (this.#starts.tryTake(now)) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#assign('');
    }, this.#starts.waitMs(now));
    return false;
  }
}
