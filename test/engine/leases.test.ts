import assert from 'node:assert/strict';
import { createLeaseClient } from '../../controllers/kubernetes/leases.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { StreamFailure } from '../../controllers/runtime/failure.ts';
import { LeaderElector, LeadershipLost } from '../../controllers/runtime/leaderElection.ts';
import type { LeaseClient } from '../../controllers/runtime/ports.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { until, withClient } from './clientFixture.ts';

describe('the lease of the leader on a real API server', () => {
  const fixture = withClient();
  const { signal } = fixture;

  it('hands the lease over, at once when it is released and after its expiry when the leader is disconnected', async () => {
    // Long enough that a busy machine renews in time.
    const times = { leaseMs: 9_000, renewDeadlineMs: 6_000, retryMs: 300, jitter: 0.2 };
    const lease = createLeaseClient(fixture.client, 'default', 'adapter-lease');
    const order: string[] = [];
    const startCandidate = (identity: string, leases: LeaseClient) => {
      const stopping = new AbortController();
      const elector = new LeaderElector({ leases, identity, clock: realClock, log: silentLog, times });
      const done = elector.run(stopping.signal, async (work) => {
        order.push(`${identity} begins`);
        await new Promise((resolve) => work.addEventListener('abort', resolve, { once: true }));
        order.push(`${identity} ends`);
      });
      return { done, stop: () => stopping.abort() };
    };
    const waitForLeader = (identity: string) =>
      until(`${identity} to lead`, () => order.includes(`${identity} begins`));
    let isCut = false;
    const whileConnected =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        isCut ? Promise.reject(new StreamFailure('cut off')) : call(...args);
    const first = startCandidate('first', lease);
    await waitForLeader('first');
    const second = startCandidate('second', {
      read: whileConnected(lease.read),
      create: whileConnected(lease.create),
      update: whileConnected(lease.update),
    });
    first.stop();
    await first.done;
    await waitForLeader('second');
    const third = startCandidate('third', lease);
    isCut = true;
    await assert.rejects(second.done, LeadershipLost);
    await waitForLeader('third');
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
