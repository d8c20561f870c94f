/** What many pools ask alike, asked once. */
import type { CallResult } from '../../../ports/callResult.ts';

interface Kept {
  readonly at: number;
  readonly answer: CallResult<unknown>;
}

interface Flight {
  readonly answer: Promise<CallResult<unknown>>;
  readonly calling: AbortController;
  waiting: number;
}

/** More than a cluster has of roles, instance types and subnets together; the oldest are forgotten. */
const MOST = 1_000;

/**
 * How long trouble is kept: many pools that ask at the same time get it once, and none gets it at its own next attempt, which `--retry-base` and
 * `--denied-retry-interval` delay by at least as much by default.
 */
const ERROR_KEPT_MS = 1_000;

/**
 * Answers with an age. A question that is asked while it is already under way gets the same answer. That something does not exist is an answer
 * as any other. Trouble is kept for a moment only.
 */
export class SharedAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Map<string, Flight>();

  /**
   * The answer to a question that is not older than `maxAgeMs`. One caller's signal ends its own waiting; the call itself ends with the
   * last of them.
   */
  async get<T>(
    question: string,
    maxAgeMs: number,
    now: number,
    ask: (signal: AbortSignal) => Promise<CallResult<T>>,
    signal: AbortSignal,
  ): Promise<CallResult<T>> {
    signal.throwIfAborted();
    const kept = this.#kept.get(question);
    if (kept && now - kept.at < lastingMs(kept.answer, maxAgeMs)) return kept.answer as CallResult<T>;
    const flight = this.#flights.get(question) ?? this.#start(question, now, ask);
    flight.waiting += 1;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return (await Promise.race([flight.answer, aborted])) as CallResult<T>;
    } finally {
      signal.removeEventListener('abort', giveUp);
      flight.waiting -= 1;
      if (flight.waiting === 0) this.#leave(question, flight);
    }
  }

  /** What was answered, or is under way, is no longer true: the next to ask starts anew. */
  forget(question: string): void {
    this.#kept.delete(question);
    this.#flights.delete(question);
  }

  /** The caller has changed what was answered. An answer that is under way may not have it and is not kept. */
  amend<T>(question: string, change: (value: T) => T): void {
    const kept = this.#kept.get(question);
    if (kept?.answer.ok)
      this.#kept.set(question, { at: kept.at, answer: { ok: true, value: change(kept.answer.value as T) } });
    this.#flights.delete(question);
  }

  #start(question: string, now: number, ask: (signal: AbortSignal) => Promise<CallResult<unknown>>): Flight {
    const calling = new AbortController();
    const flight: Flight = { answer: ask(calling.signal), calling, waiting: 0 };
    this.#flights.set(question, flight);
    flight.answer.then(
      (answer) => {
        if (this.#flights.get(question) === flight) this.#keep(question, { at: now, answer });
        this.#leave(question, flight);
      },
      () => this.#leave(question, flight),
    );
    return flight;
  }

  /** Nobody waits any longer, or it has come: the next to ask starts anew. */
  #leave(question: string, flight: Flight): void {
    if (this.#flights.get(question) === flight) this.#flights.delete(question);
    flight.calling.abort(new DOMException('nobody waits for it', 'AbortError'));
  }

  #keep(question: string, kept: Kept): void {
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** How long an answer can be used by one who bears that age, in milliseconds. */
function lastingMs(answer: CallResult<unknown>, maxAgeMs: number): number {
  return answer.ok ? maxAgeMs : Math.min(maxAgeMs, ERROR_KEPT_MS);
}
