/** Calls that can be about several things at once. */
import { orAborted } from './orAborted.ts';

interface Waiting<T, R> {
  readonly item: T;
  readonly signal: AbortSignal;
  readonly outcome: PromiseWithResolvers<R>;
}

interface Batches<T, R> {
  /** Only items with the same key share a call, or wait for each other. Default: all. */
  keyOf?(item: T): string;
  /** Makes a call about these items. Its result is that of each of them. The signal is aborted as soon as one of their callers gives up. */
  send(items: readonly T[], signal: AbortSignal): Promise<R>;
  /** How many of the waiting items the next call is about, at least one. Default: all. */
  take?(waiting: readonly T[]): number;
  /** Whether the result may be due to only some of the items: each then gets a call of its own. Default: never. */
  isOfSome?(result: R): boolean;
  /** Whether those that wait get the result too, without a call of their own. Default: never. */
  isForAll?(result: R): boolean;
}

/**
 * Returns a function that makes a call about an item. Items that come while a call is under way share the next one. A caller whose signal is aborted
 * is rejected with its reason at once; a call that it shares with others is repeated for them, so calls must be idempotent.
 */
export function createBatches<T, R>(batches: Batches<T, R>): (item: T, signal: AbortSignal) => Promise<R> {
  const {
    keyOf = () => '',
    send,
    take = ({ length }) => length,
    isOfSome = () => false,
    isForAll = () => false,
  } = batches;
  /** What waits, by key, while a call is under way. */
  const lanes = new Map<string, Waiting<T, R>[]>();

  function nextBatch(lane: Waiting<T, R>[]): readonly Waiting<T, R>[] {
    const open = lane.splice(0).filter(({ signal }) => !signal.aborted);
    const count = open.length > 0 ? Math.max(1, take(open.map(({ item }) => item))) : 0;
    lane.push(...open.slice(count));
    return open.slice(0, count);
  }

  async function sendBatch(batch: readonly Waiting<T, R>[], lane: Waiting<T, R>[]): Promise<void> {
    const signal = AbortSignal.any(batch.map((each) => each.signal));
    try {
      const result = await send(
        batch.map(({ item }) => item),
        signal,
      );
      if (batch.length > 1 && isOfSome(result)) {
        await Promise.all(batch.map((each) => sendBatch([each], lane)));
        return;
      }
      for (const { outcome } of isForAll(result) ? [...batch, ...lane.splice(0)] : batch) outcome.resolve(result);
    } catch (error) {
      // One caller's abort is not the end for the others.
      const others = signal.aborted ? batch.filter((each) => !each.signal.aborted) : [];
      lane.unshift(...others);
      for (const each of batch) if (!others.includes(each)) each.outcome.reject(error);
    }
  }

  async function sendAll(key: string, lane: Waiting<T, R>[]): Promise<void> {
    for (let batch = nextBatch(lane); batch.length > 0; batch = nextBatch(lane)) await sendBatch(batch, lane);
    lanes.delete(key);
  }

  return async (item, signal) => {
    signal.throwIfAborted();
    const outcome = Promise.withResolvers<R>();
    const key = keyOf(item);
    const lane = lanes.get(key) ?? [];
    lane.push({ item, signal, outcome });
    if (!lanes.has(key)) {
      lanes.set(key, lane);
      void sendAll(key, lane);
    }
    return orAborted(outcome.promise, signal);
  };
}
