import { deadline } from './clock.ts';
import type { Clock, ListWatch } from './ports.ts';
import { compareVersions } from './version.ts';

/** A watch is checked after this long without data. Together with the check, a dead peer is detected within a minute. */
const SILENCE_MS = 35_000;
/** Shorter after a failure, to know soon whether the watch works, even if a proxy cuts silent watches. */
const SILENCE_AFTER_FAILURE_MS = 5_000;
/** Time-out of the check: connecting, authenticating, and a watch of one second. */
const CHECK_MS = 15_000;

export interface SilenceOptions {
  readonly clock: Clock;
  /** Whether the previous stream failed. */
  readonly afterFailure: boolean;
  /** Called when the stream is silent. Resolves if there was nothing to send; throws if the stream is broken. */
  readonly check: () => Promise<void>;
  /** Receives the error of the check. */
  readonly giveUp: (cause: unknown) => void;
}

/**
 * Detects a stream whose peer vanished, froze, or is behind a proxy that forwards nothing. TCP keep-alive detects only the first. Call `received` for
 * each chunk: it is cheap and sets no timer.
 */
export class SilenceWatch implements Disposable {
  readonly #options: SilenceOptions;
  #lastReceived: number;
  #timer: Disposable;
  #disposed = false;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#lastReceived = options.clock.monotonic();
    this.#timer = this.#arm(options.afterFailure ? SILENCE_AFTER_FAILURE_MS : SILENCE_MS);
  }

  received(): void {
    this.#lastReceived = this.#options.clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer[Symbol.dispose]();
  }

  /** After `ms`, checks the stream if it has been silent for `patience`. */
  #arm(patience: number, ms = patience): Disposable {
    return this.#options.clock.after(ms, () => {
      const silentMs = this.#options.clock.monotonic() - this.#lastReceived;
      if (silentMs >= patience) void this.#doubt();
      else this.#timer = this.#arm(SILENCE_MS, SILENCE_MS - silentMs);
    });
  }

  async #doubt(): Promise<void> {
    const before = this.#lastReceived;
    try {
      await this.#options.check();
      this.received();
    } catch (cause) {
      // Data that arrived during the check outweighs its result.
      if (!this.#disposed && this.#lastReceived === before) this.#options.giveUp(cause);
    }
    if (!this.#disposed) this.#timer = this.#arm(SILENCE_MS);
  }
}

/**
 * Whether a second, short watch from the same version receives a change that the silent one did not. Throws if it cannot be opened in time: then
 * the silent one is broken, too.
 */
export async function missedEvents<T>(
  source: ListWatch<T>,
  version: () => string,
  resourceVersion: (item: T) => string,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  using limit = deadline(clock, CHECK_MS, signal, 'the check of a silent watch');
  const options = { resourceVersion: version(), sendInitialEvents: false, timeoutSeconds: 1 };
  for await (const events of source.watch(options, limit.signal)) {
    for (const event of events) {
      if (event.type === 'BOOKMARK' || event.type === 'UNREADABLE') continue;
      if (event.type === 'ERROR' || compareVersions(resourceVersion(event.item), version()) > 0) return true;
    }
  }
  return false;
}
