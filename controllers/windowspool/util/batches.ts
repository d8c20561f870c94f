/** Calls that can be about several things at once. */

interface Waiting<T, R> {
  readonly item: T;
  readonly signal: AbortSignal;
  readonly outcome: PromiseWithResolvers<R>;
}

interface Batches<T, R> {
  /** Makes a call about these items, and returns a result for each, in their order. The signal is aborted as soon as one of their callers gives up. */
  send(items: readonly T[], signal: AbortSignal): Promise<readonly R[]>;
  /** How many of the waiting items the next call is about, at least one. Default: all. */
  take?(waiting: readonly T[]): number;
  /** Whether those that wait get this result too, without a call of their own. Default: never. */
  isForAll?(result: R): boolean;
}

/**
 * Returns a function that makes a call about an item. Items that come while a call is under way share the next one. A caller whose signal is aborted
 * gets its reason at once; a call that it shares with others is repeated for them, so it must be idempotent.
 */
export function createBatches<T, R>(batches: Batches<T, R>): (item: T, signal: AbortSignal) => Promise<R> {
  const { send, take = ({ length }) => length, isForAll = () => false } = batches;
  let waiting: Waiting<T, R>[] = [];
  let isSending = false;

  function nextBatch(): readonly Waiting<T, R>[] {
    waiting = waiting.filter(({ signal }) => !signal.aborted);
    return waiting.splice(0, waiting.length > 0 ? take(waiting.map(({ item }) => item)) : 0);
  }

  async function sendBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    const signal = AbortSignal.any(batch.map((each) => each.signal));
    try {
      const results = await send(
        batch.map(({ item }) => item),
        signal,
      );
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(results[index] as R);
      const forAll = results.find(isForAll);
      if (forAll !== undefined) for (const { outcome } of waiting.splice(0)) outcome.resolve(forAll);
    } catch (error) {
      // One caller's abort is not the end for the others.
      const others = signal.aborted ? batch.filter((each) => !each.signal.aborted) : [];
      waiting.unshift(...others);
      for (const each of batch) if (!others.includes(each)) each.outcome.reject(error);
    }
  }

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) await sendBatch(batch);
    isSending = false;
  }

  return async (item, signal) => {
    signal.throwIfAborted();
    const outcome = Promise.withResolvers<R>();
    const onAbort = () => outcome.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push({ item, signal, outcome });
    void sendAll();
    try {
      return await outcome.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };
}
