/**
 * The time of the API server, by the header Date of its responses. Objects have timestamps of the API server and of other replicas of the operator:
 * compared with the clock of this machine, which may be minutes wrong, a drain would skip pods, and a node would fail for too long at once.
 */

/** The header has whole seconds, and a response takes a while: a smaller difference says nothing. */
const TOLERANCE_MS = 2_000;
/** The header of a slower response is too old. */
const SLOWEST_MS = 5_000;

export class ServerTime {
  readonly #wallClock: () => number;
  readonly #monotonic: () => number;
  /** Server time minus monotonic time; undefined before the first response. */
  #offset: number | undefined;

  /** Both clocks in milliseconds. */
  constructor(wallClock: () => number = () => Date.now(), monotonic: () => number = () => performance.now()) {
    this.#wallClock = wallClock;
    this.#monotonic = monotonic;
  }

  /** Epoch milliseconds. Before the first response, those of this machine. Does not jump when the clock of this machine is set. */
  now(): number {
    return this.#offset === undefined ? this.#wallClock() : Math.floor(this.#monotonic() + this.#offset);
  }

  /** Returns a function to call with the header Date when the response to a request that is sent now arrives. */
  measure(): (date: string | undefined) => void {
    const sent = this.#monotonic();
    return (date) => {
      const received = this.#monotonic();
      const server = Date.parse(date ?? '');
      if (Number.isNaN(server) || received - sent > SLOWEST_MS) return;
      const known = this.now();
      // The machine's own clock is more precise, as long as the two agree.
      const nearest = Math.min(Math.max(known, server), server + 999);
      if (Math.abs(nearest - known) > TOLERANCE_MS) this.#offset = server + 500 - received;
      else this.#offset ??= known - received;
    };
  }
}
