import type { IncomingMessage } from 'node:http';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';

/** Long enough for several events of a busy cluster, and too short to be noticed by who waits for a reaction. */
const TURN_MS = 20;
const WINDOW_MS = 100;
/** A stream that brings more than this in a window is in a hurry: 10 MB/s, while 300 heartbeats a second are 3. */
const CALM_BYTES = 1024 * 1024;

/**
 * The pieces of an answer's body. Being woken costs a process more than reading an event, so a stream of small ones is read in turns:
 * what comes first is given at once, and what comes within the next 20 ms is left in the system's buffer and given together. A stream
 * that brings much, as a first list does, is read as it comes.
 */
export async function* inTurns(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const flow = new Flow();
  for await (const piece of response as AsyncIterable<Buffer>) {
    yield piece;
    if (!flow.isCalm(piece.length, performance.now())) continue;
    // What came together with this piece is given before the pause.
    await nextRound();
    if (response.readableLength > 0 || response.complete) continue;
    response.socket.pause();
    await sleep(TURN_MS);
    response.socket.resume();
  }
}

/** How much a stream has brought lately. */
export class Flow {
  #since = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #wasCalm = false;

  /** Takes another piece into account. Milliseconds of a clock that does not jump. A stream begins in a hurry. */
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
