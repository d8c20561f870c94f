import type { IncomingMessage } from 'node:http';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';

/** Long enough to collect several events in a busy cluster, too short to delay a reaction noticeably. */
const TURN_MS = 20;
const WINDOW_MS = 100;
/** A stream with more than this in a window is not delayed: 10 MB/s, while 300 heartbeats a second are 3 MB/s. */
const CALM_BYTES = 1024 * 1024;

/**
 * The chunks of a response's body. A wake-up costs more CPU than reading an event, so calm streams are read in turns: the first chunk is yielded
 * at once, and what arrives within the next 20 ms stays in the socket's buffer and is yielded together. Busy streams, such as an initial list,
 * are not delayed.
 */
export async function* inTurns(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const flow = new Flow();
  for await (const piece of response as AsyncIterable<Buffer>) {
    yield piece;
    if (!flow.isCalm(piece.length, performance.now())) continue;
    // Chunks that arrived together are yielded before the pause.
    await nextRound();
    if (response.readableLength > 0 || response.complete) continue;
    response.socket.pause();
    await sleep(TURN_MS);
    response.socket.resume();
  }
}

/** Measures the throughput of a stream. */
export class Flow {
  #since = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #wasCalm = false;

  /** Counts a chunk. A stream is busy at its start. `now` is monotonic, in milliseconds. */
  isCalm(bytes: number, now: number): boolean {
    const passed = now - this.#since;
    if (passed >= WINDOW_MS) {
      this.#wasCalm = this.#since !== Number.NEGATIVE_INFINITY && this.#bytes * WINDOW_MS < CALM_BYTES * passed;
      this.#since = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#wasCalm && this.#bytes < CALM_BYTES;
  }
}
