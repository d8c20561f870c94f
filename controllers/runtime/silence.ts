import { deadline } from './clock.ts';
import type { Clock, ListWatch } from './ports.ts';
import { compareVersions } from './version.ts';

/** A silent watch is doubted after this long. With the time for the check, a dead peer is noticed within a minute. */
const SILENCE_MS = 35_000;
/** One that follows a failure, so that it is soon known whether it works, also where something cuts watches that are silent. */
const SILENCE_AFTER_FAILURE_MS = 5_000;
/** The check itself may take this long: connecting, authenticating, and the second that its watch lasts. */
const CHECK_MS = 15_000;

export interface SilenceOptions {
  readonly clock: Clock;
  /** The stream before it failed. */
  readonly afterFailure: boolean;
  /** Asked when the stream has been silent: resolves when silence is no surprise, throws when the stream must be given up. */
  readonly check: () => Promise<void>;
  /** Told why the stream must be given up. */
  readonly giveUp: (cause: unknown) => void;
}

/**
 * Notices a stream that has gone deaf: a peer that vanished, froze, or sits behind a proxy that forwards nothing. TCP keep-alive
 * sees only the first of these. Call `heard` at each piece that arrives: it costs two assignments and no timer.
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

  /** Looks after `ms` whether the stream has been silent for as long as `patience`. */
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
      // What arrived while the check ran proves more than the check.
      if (!this.#disposed && this.#lastReceived === before) this.#options.giveUp(cause);
    }
    if (!this.#disposed) this.#timer = this.#arm(SILENCE_MS);
  }
}

/**
 * Whether a second, short watch from the same version sees a change that the silent one has not brought. Throws when it cannot
 * be opened in time, which says as much about the first one.
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
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'ERROR' || compareVersions(resourceVersion(event.item), version()) > 0) return true;
    }
  }
  return false;
}
