import { copyOf } from '../copy.ts';

/** The operations that change nothing. */
const READS = /^(?:Describe|List|Get)/;

/** The result of a call. */
interface Reply {
  readonly kind: string;
  readonly output?: object;
}

/** Reads that lag behind writes, as in services that are eventually consistent: a read returns what an earlier one with the same input returned. */
export class StaleReads<R extends Reply> {
  #lagMs = 0;
  readonly #replies = new Map<string, { readonly at: number; readonly reply: R }>();

  /** The maximum age of a response in seconds. 0: every response is current. */
  set lagSeconds(seconds: number) {
    if (!(seconds >= 0 && Number.isFinite(seconds)))
      throw new RangeError(`seconds is ${seconds}; give a number from 0`);
    this.#lagMs = seconds * 1_000;
    this.#replies.clear();
  }

  /** The response to a call at a time in epoch milliseconds: an earlier one, or else that of `run`. */
  answer(operation: string, input: object, now: number, run: () => R): R {
    if (this.#lagMs === 0 || !READS.test(operation)) return run();
    const key = `${operation} ${JSON.stringify(input)}`;
    const known = this.#replies.get(key);
    const reply = known && now < known.at + this.#lagMs ? known.reply : run();
    if (reply !== known?.reply) this.#replies.set(key, { at: now, reply });
    return reply.output ? { ...reply, output: copyOf(reply.output) } : reply;
  }
}
