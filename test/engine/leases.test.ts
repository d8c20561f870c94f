import assert from 'node:assert/strict';
import { createLeaseClient } from '../../controllers/kubernetes/leases.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { StreamFailure } from '../../controllers/runtime/failure.ts';
import { LeaderElector, LeadershipLost } from '../../controllers/runtime/leaderElection.ts';
import type { LeaseClient } from '../../controllers/runtime/ports.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { until, withClient } from './clientFixture.ts';

describe('the lease of the leader on a real API server', () => {
  const on = withClient();
  const { signal } = on;

  it('hands the lease over, at once when it is released and after its end when the leader is cut off', async () => {
    // Long enough that a busy machine renews in time.
    const times = { leaseMs: 9_000, renewDeadlineMs: 6_000, retryMs: 300, jitter: 0.2 };
    const lease = createLeaseClient(on.client, 'default', 'adapter-lease');
    const order: string[] = [];
    const elect = (identity: string, leases: LeaseClient) => {
      const stopping = new AbortController();
      const elector = new LeaderElector({ leases, identity, clock: realClock, log: silentLog, times });
      const done = elector.run(stopping.signal, async (work) => {
        order.push(`${identity} begins`);
        await new Promise((resolve) => work.addEventListener('abort', resolve, { once: true }));
        order.push(`${identity} ends`);
      });
      return { done, stop: () => stopping.abort() };
    };
    const begins = (identity: string) => until(`${identity} to lead`, () => order.includes(`${identity} begins`));
    let cut = false;
    const reach =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        cut ? Promise.reject(new StreamFailure('cut off')) : call(...args);
    const first = elect('first', lease);
    await begins('first');
    const second = elect('second', {
      read: reach(lease.read),
      create: reach(lease.create),
      update: reach(lease.update),
    });
    first.stop();
    await first.done;
    await begins('second');
    const third = elect('third', lease);
    cut = true;
    await assert.rejects(second.done, LeadershipLost);
    await begins('third');
    third.stop();
    await third.done;
    assert.deepEqual(order, [
      'first begins',
      'first ends',
      'second begins',
      'second ends',
      'third begins',
      'third ends',
    ]);
    assert.equal((await lease.read(signal))?.record.holder, '');
  });
});
