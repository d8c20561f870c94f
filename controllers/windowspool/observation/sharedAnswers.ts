/** Answers of AWS and the API server that many pools share. */
import type { CallResult } from '../ports/callResult.ts';
import { orAborted } from '../util/orAborted.ts';

interface Kept {
  readonly at: number;
  readonly answer: CallResult<unknown>;
}

interface Flight {
  readonly answer: Promise<CallResult<unknown>>;
  readonly calling: AbortController;
  waiting: number;
}

/** How long answers about what rarely changes are cached, in milliseconds: instance types, their offerings and the roles of groups. */
export const LONG_MS = 3_600_000;

/** More than a cluster has of roles, instance types and subnets together; the oldest answers are dropped. */
const MOST = 1_000;

/** Created once: creating one costs more than most questions, and each answered question ends with it. */
const NO_CALLERS = new DOMException('no caller waits for the answer', 'AbortError');

/**
 * How long an error is cached: concurrent callers share it, and none gets it again at its next attempt, which `--retry-base` and
 * `--denied-retry-interval` delay by at least as much by default.
 */
const ERROR_KEPT_MS = 1_000;

/**
 * Caches answers with their age. Concurrent callers of the same question share one call. "Not found" is an answer like any other. Errors are cached
 * only for ERROR_KEPT_MS.
 */
export class SharedAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Map<string, Flight>();

  /**
   * The answer to a question, not older than `maxAgeMs`. A caller's signal ends only its own wait; the call is aborted when no caller is left.
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
    if (kept && now - kept.at < validMs(kept.answer, maxAgeMs)) return kept.answer as CallResult<T>;
    const flight = this.#flights.get(question) ?? this.#start(question, now, ask);
    flight.waiting += 1;
    try {
      return (await orAborted(flight.answer, signal)) as CallResult<T>;
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) this.#end(question, flight);
    }
  }

  /** Drops an outdated answer, and one in flight: the next caller starts a new call. */
  forget(question: string): void {
    this.#kept.delete(question);
    this.#flights.delete(question);
  }

  /** Updates an answer after the caller has changed the object. An answer in flight may be older and is not cached. */
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
        this.#end(question, flight);
      },
      () => this.#end(question, flight),
    );
    return flight;
  }

  /** The call is over or has no more callers: the next caller starts a new one. */
  #end(question: string, flight: Flight): void {
    if (this.#flights.get(question) === flight) this.#flights.delete(question);
    flight.calling.abort(NO_CALLERS);
  }

  #keep(question: string, kept: Kept): void {
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** How long an answer is valid for a caller that accepts `maxAgeMs`, in milliseconds. */
function validMs(answer: CallResult<unknown>, maxAgeMs: number): number {
  return answer.ok ? maxAgeMs : Math.min(maxAgeMs, ERROR_KEPT_MS);
}
