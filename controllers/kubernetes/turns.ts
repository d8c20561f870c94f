import type { IncomingMessage } from 'node:http';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';

/** Long enough to collect several events in a busy cluster, too short to delay a reaction noticeably. */
const TURN_MS = 20;
const WINDOW_MS = 100;
/**
 * Between these rates, a stream is read in turns, in bytes per window. Below, a turn would collect nothing and only delay: 1 MB/s, while 33 heartbeats a second,
 * those of 10,000 nodes, are 0.4 MB/s. Above, 10 MB/s, while 300 heartbeats a second are 3 MB/s.
 */
const STEADY = { least: 100 * 1024, most: 1024 * 1024 };

/**
 * When to read the body of a response. A wake-up costs more CPU than reading an event, so steady streams are read in turns: after each chunk, what
 * arrives within 20 ms stays in the socket's buffer and is one chunk. Streams with few events are not delayed, nor are those with many, such as an
 * initial list.
 */
export class Turns {
  readonly #response: IncomingMessage;
  readonly #flow = new Flow();

  constructor(response: IncomingMessage) {
    this.#response = response;
  }

  /** Whether to rest after this chunk. */
  isSteady(bytes: number): boolean {
    return this.#flow.isSteady(bytes, performance.now());
  }

  /** Stops reading for a turn, unless more has already arrived. */
  async rest(): Promise<void> {
    const response = this.#response;
    await nextRound();
    if (response.readableLength > 0 || response.complete) return;
    response.socket.pause();
    await sleep(TURN_MS);
    response.socket.resume();
  }
}

/** Measures the throughput of a stream. */
export class Flow {
  #since = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #wasSteady = false;

  /** Counts a chunk. A stream is busy at its start. `now` is monotonic, in milliseconds. */
  isSteady(bytes: number, now: number): boolean {
    const passed = now - this.#since;
    if (passed >= WINDOW_MS) {
      const rate = (this.#bytes * WINDOW_MS) / passed;
      this.#wasSteady = this.#since !== Number.NEGATIVE_INFINITY && rate >= STEADY.least && rate < STEADY.most;
      this.#since = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#wasSteady && this.#bytes < STEADY.most;
  }
}
