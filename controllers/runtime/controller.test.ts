import assert from 'node:assert/strict';
import { Controller, type ControllerOptions, type ReconcileResult } from './controller.ts';
import { LeadershipLost } from './leaderElection.ts';
import { recordedLog } from './testing/recordedLog.ts';
import { silentLog } from './testing/silentLog.ts';
import { SimulatedClock } from './testing/simulatedClock.ts';

type Overrides = Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>;

function start(overrides: Overrides) {
  const clock = new SimulatedClock();
  const results: string[] = [];
  let ids = 0;
  const controller = new Controller({
    name: 'test',
    sources: [],
    maxConcurrentReconciles: 2,
    timeoutMs: 60_000,
    graceMs: 10_000,
    clock,
    log: silentLog,
    newId: () => `id-${++ids}`,
    hooks: { ended: (result) => results.push(result) },
    ...overrides,
  });
  const stopping = new AbortController();
  const running = controller.run(stopping.signal);
  const stop = (reason?: Error): Promise<void> => {
    stopping.abort(reason);
    return running;
  };
  return { clock, controller, results, stop, running };
}

const rest: ReconcileResult = { kind: 'done' };

/** Resolves when the signal aborts. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

describe('the controller', () => {
  it('does not reconcile before every source is synced', async () => {
    const source = Promise.withResolvers<void>();
    const seen: string[] = [];
    const reconcile = async (key: string): Promise<ReconcileResult> => {
      seen.push(key);
      return rest;
    };
    const { clock, controller, stop } = start({ reconcile, sources: [{ synced: source.promise }] });
    controller.enqueue('a');
    await clock.advance(1_000);
    assert.deepEqual(seen, []);
    source.resolve();
    await clock.advance(0);
    assert.deepEqual(seen, ['a']);
    await stop();
  });

  it('reconciles as many keys concurrently as it has workers, but never one key twice', async () => {
    let most = 0;
    const now = new Map<string, number>();
    const { clock, controller, results, stop } = start({
      reconcile: async (key, signal) => {
        now.set(key, (now.get(key) ?? 0) + 1);
        assert.equal(now.get(key), 1);
        most = Math.max(
          most,
          [...now.values()].reduce((sum, count) => sum + count, 0),
        );
        await clock.sleep(100, signal);
        now.set(key, 0);
        return rest;
      },
    });
    for (const key of ['a', 'b', 'c', 'd', 'a']) controller.enqueue(key);
    await clock.advance(50);
    controller.enqueue('a');
    assert.equal(controller.queue.depth, 2, 'keys wait in the workqueue, where they are deduplicated');
    await clock.advance(1_000);
    assert.deepEqual([most, results.length], [2, 5]);
    await stop();
  });

  const outcomes: {
    answer: string;
    reconcile: () => Promise<ReconcileResult>;
    again: number | undefined;
    result: string;
  }[] = [
    { answer: 'rest', reconcile: async () => rest, again: undefined, result: 'success' },
    {
      answer: 'after',
      reconcile: async () => ({ kind: 'requeueAfter', ms: 7_000 }),
      again: 7_000,
      result: 'requeue_after',
    },
    { answer: 'retry', reconcile: async () => ({ kind: 'requeue' }), again: 5, result: 'requeue' },
    {
      answer: 'retry with a cause',
      reconcile: async () => ({ kind: 'requeue', cause: new Error('no') }),
      again: 5,
      result: 'error',
    },
    { answer: 'an exception', reconcile: async () => Promise.reject(new Error('bug')), again: 5, result: 'error' },
    { answer: 'a thrown undefined', reconcile: async () => Promise.reject(undefined), again: 5, result: 'error' },
  ];
  for (const { answer, reconcile, again, result } of outcomes) {
    it(`after ${answer}, reconciles the key again ${again === undefined ? 'never' : `in ${again} ms`}`, async () => {
      const { log, lines } = recordedLog();
      const { clock, controller, results, stop } = start({ reconcile, log });
      controller.enqueue('a');
      await clock.advance(0);
      assert.deepEqual(results, [result]);
      assert.deepEqual(
        lines.filter(({ msg }) => msg === 'reconciled'),
        [
          {
            level: 'debug',
            controller: 'test',
            key: 'a',
            reconcileID: 'id-1',
            result,
            ...(result === 'requeue_after' && { requeueAfterMs: again }),
            msg: 'reconciled',
          },
        ],
      );
      await clock.advance((again ?? 1e6) - 1);
      assert.equal(results.length, 1);
      await clock.advance(1);
      assert.equal(results.length, again === undefined ? 1 : 2);
      await stop();
    });
  }

  it('resets the backoff after any result except retry', async () => {
    const answers: ReconcileResult[] = [
      { kind: 'requeue' },
      { kind: 'requeue' },
      { kind: 'requeueAfter', ms: 50 },
      { kind: 'requeue' },
      rest,
    ];
    const times: number[] = [];
    const { clock, controller, stop } = start({
      reconcile: async () => {
        times.push(clock.monotonic());
        return answers.shift() ?? rest;
      },
    });
    controller.enqueue('a');
    await clock.advance(1_000);
    assert.deepEqual(times, [0, 5, 15, 65, 70]);
    await stop();
  });

  it('aborts a reconciliation that takes too long, and retries it', async () => {
    const reasons: unknown[] = [];
    const { clock, controller, results, stop } = start({
      timeoutMs: 1_000,
      reconcile: async (_, signal) => {
        if (reasons.length > 0) return rest;
        await untilAborted(signal).catch((reason) => reasons.push(reason));
        throw new Error('a call was interrupted');
      },
    });
    controller.enqueue('a');
    await clock.advance(1_010);
    assert.match(String(reasons[0]), /TimeoutError: the reconciliation of a took longer than 1 s/);
    assert.deepEqual(results, ['error', 'success']);
    await stop();
  });

  it('lets running reconciliations finish at the stop, and starts no others', async () => {
    const { clock, controller, results, stop } = start({
      maxConcurrentReconciles: 1,
      reconcile: async (_, signal) => {
        await clock.sleep(5_000, signal);
        return { kind: 'requeueAfter', ms: 1 };
      },
    });
    controller.enqueue('a');
    controller.enqueue('b');
    await clock.advance(10);
    const stopped = stop();
    await clock.advance(5_000);
    await stopped;
    assert.deepEqual([results, clock.pending], [['requeue_after'], 0]);
  });

  it('aborts reconciliations that exceed the grace period', async () => {
    const { clock, controller, results, stop } = start({ reconcile: (_, signal) => untilAborted(signal) });
    controller.enqueue('a');
    await clock.advance(10);
    const stopped = stop();
    await clock.advance(9_999);
    assert.deepEqual(results, []);
    await clock.advance(1);
    await stopped;
    assert.deepEqual(results, ['error']);
  });

  it('aborts reconciliations at once if the lease is lost', async () => {
    const lost = new LeadershipLost('acquired by another');
    const reasons: unknown[] = [];
    const { clock, controller, stop } = start({
      reconcile: async (_, signal) => {
        await untilAborted(signal).catch(() => reasons.push(signal.reason));
        return { kind: 'done' };
      },
    });
    controller.enqueue('a');
    await clock.advance(10);
    await stop(lost);
    assert.deepEqual(reasons, [lost]);
  });

  it('reports a reconciliation that ignores the abort', async () => {
    const { clock, controller, stop } = start({ reconcile: () => new Promise(() => undefined) });
    controller.enqueue('a');
    await clock.advance(10);
    const stopped = assert.rejects(stop(), /1 reconciliations of test .* 15 s /);
    await clock.advance(15_000);
    await stopped;
  });

  it('can be stopped while it waits for its sources', async () => {
    const { stop } = start({ reconcile: async () => rest, sources: [{ synced: new Promise(() => undefined) }] });
    await stop();
  });
});
