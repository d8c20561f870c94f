import assert from 'node:assert/strict';
import { StreamFailure } from './failure.ts';
import { LeaderElector, LeadershipLost, PAUSED_WHILE_SENDING } from './leaderElection.ts';
import type { Lease, LeaseClient, LeaseRecord } from './ports.ts';
import { silentLog } from './testing/silentLog.ts';
import { SimulatedClock } from './testing/simulatedClock.ts';
import { type Outage, SimulatedLease } from './testing/simulatedLease.ts';

function candidate(identity: string, leases: LeaseClient, clock: SimulatedClock, finish?: () => Promise<void>) {
  const log: string[] = [];
  const warnings: object[] = [];
  const stopping = new AbortController();
  const warn = (fields: object, message: string): void => {
    if (message === PAUSED_WHILE_SENDING) warnings.push(fields);
  };
  const elector = new LeaderElector({ leases, identity, clock, log: { ...silentLog, warn }, random: () => 0 });
  const work = async (signal: AbortSignal): Promise<void> => {
    log.push('works');
    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener('abort', resolve, { once: true });
    });
    await finish?.();
    log.push('ended');
  };
  const running = elector.run(stopping.signal, work).then(
    () => log.push('resolved'),
    (error: unknown) => log.push(error instanceof LeadershipLost ? 'lost' : String(error)),
  );
  const stop = (): Promise<unknown> => {
    stopping.abort();
    return running;
  };
  return {
    log,
    pauses: warnings,
    stop,
    running,
    works: () => log.includes('works'),
    unreachable: () => elector.unreachable(),
    check: () => elector.check(),
  };
}

describe('leader election', () => {
  it('lets one process work, and the next one as soon as the first has stopped and released the lease', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    const second = candidate('second', lease.client(), clock);
    await clock.advance(60_000);
    assert.deepEqual([first.log, second.log], [['works'], []]);
    await first.stop();
    assert.deepEqual(first.log, ['works', 'ended', 'resolved']);
    const since = clock.monotonic();
    await clock.until(second.works, 'the second leads');
    assert.ok(clock.monotonic() - since <= 2_000);
    assert.equal(lease.lease?.record.transitions, 1);
    await second.stop();
    assert.equal(lease.lease?.record.holder, '');
    assert.equal(clock.pending, 0);
  });

  it('renews while the work stops, and then releases the lease', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock, () => clock.sleep(40_000, new AbortController().signal));
    const second = candidate('second', lease.client(), clock);
    await clock.advance(5_000);
    const stopped = first.stop();
    await clock.advance(39_000);
    assert.deepEqual([first.log, second.log], [['works'], []]);
    await clock.advance(1_000);
    await stopped;
    await clock.until(second.works, 'the second leads');
    await second.stop();
  });

  it('releases the lease also if it stops while a renewal is being answered', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const error: { kind?: Outage } = {};
    const first = candidate('first', lease.client(error), clock);
    await clock.advance(5_000);
    error.kind = 'late';
    const renewals = lease.updates;
    await clock.until(() => lease.updates > renewals, 'a renewal is written');
    const stopped = first.stop();
    delete error.kind;
    await stopped;
    assert.deepEqual(first.log, ['works', 'ended', 'resolved']);
    assert.equal(lease.lease?.record.holder, '');
  });

  it('does not release the lease of another process', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    await clock.advance(5_000);
    lease.vandalise(({ record, ...rest }) => ({ ...rest, record: { ...record, holder: 'second' } }));
    await first.stop();
    assert.equal(lease.lease?.record.holder, 'second');
  });

  it('gives up to release the lease if each write is a conflict', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const client = lease.client();
    let isRefusing = false;
    let updates = 0;
    const update: LeaseClient['update'] = async (...args) => {
      if (!isRefusing) return client.update(...args);
      updates++;
      throw new StreamFailure('the object has been modified', { status: 409 });
    };
    const first = candidate('first', { ...client, update }, clock);
    await clock.advance(5_000);
    isRefusing = true;
    await first.stop();
    assert.deepEqual([first.log, updates], [['works', 'ended', 'resolved'], 1]);
  });

  it('takes over a lease that did not change for its duration, regardless of its timestamps', async () => {
    for (const skew of [-3_600_000, 0, 3_600_000]) {
      const clock = new SimulatedClock();
      const lease = new SimulatedLease();
      const now = clock.now() + skew;
      const record = { holder: 'dead', durationSeconds: 15, acquireTime: now, renewTime: now, transitions: 3 };
      await lease.client().create(record, new AbortController().signal);
      const next = candidate('next', lease.client(), clock);
      await clock.advance(14_000);
      assert.equal(next.works(), false);
      await clock.advance(3_000);
      assert.equal(next.works(), true);
      assert.equal(lease.lease?.record.transitions, 4);
      await next.stop();
    }
  });

  const silences: readonly (readonly [Outage, string])[] = [
    ['down', 'the API server is down'],
    ['hangs', 'the API server does not respond'],
    ['deaf', 'the client ignores its signal'],
  ];
  for (const [kind, what] of silences) {
    it(`ends before another process can lead if ${what}`, async () => {
      const clock = new SimulatedClock();
      const lease = new SimulatedLease();
      const error: { kind?: Outage } = {};
      const first = candidate('first', lease.client(error), clock, () =>
        clock.sleep(3_000, new AbortController().signal),
      );
      const second = candidate('second', lease.client(), clock);
      await clock.advance(30_000);
      error.kind = kind;
      await clock.until(() => first.log.includes('lost'), 'the first is lost', 20_000);
      assert.deepEqual([first.log, second.works()], [['works', 'ended', 'lost'], false]);
      await clock.until(second.works, 'the second leads', 20_000);
      await second.stop();
    });
  }

  it('ends in time even if the work does not', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const error: { kind?: 'down' } = {};
    const first = candidate('first', lease.client(error), clock, () => new Promise(() => undefined));
    const second = candidate('second', lease.client(), clock);
    await clock.advance(30_000);
    error.kind = 'down';
    await clock.until(() => first.log.includes('lost'), 'the first is lost', 20_000);
    assert.equal(second.works(), false);
    await second.stop();
  });

  it('survives a short outage and lost responses', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const error: { kind?: 'down' | 'lost' } = {};
    const first = candidate('first', lease.client(error), clock);
    for (const kind of ['down', 'lost', 'down', 'lost'] as const) {
      await clock.advance(5_000);
      error.kind = kind;
      await clock.advance(5_000);
      delete error.kind;
    }
    await clock.advance(30_000);
    assert.deepEqual(first.log, ['works']);
    await first.stop();
  });

  it('ends when another process acquired the lease, and does not acquire it again', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    await clock.advance(5_000);
    const thief = { ...(lease.lease?.record as LeaseRecord), holder: 'thief' };
    await lease.client().update(thief, lease.lease?.resourceVersion ?? '', new AbortController().signal);
    await clock.advance(8_000);
    assert.deepEqual(first.log, ['works', 'ended', 'lost']);
    assert.equal(lease.lease?.record.holder, 'thief');
  });

  it('recreates the lease if it was deleted', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    await clock.advance(5_000);
    lease.lease = undefined;
    await clock.advance(20_000);
    assert.deepEqual(first.log, ['works']);
    assert.equal((lease.lease as Lease | undefined)?.record.holder, 'first');
    await first.stop();
  });

  it('reports that a standby has not reached the lease since it started, or for 20 s longer than the lease duration', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    await clock.advance(5_000);
    const error: { kind?: Outage } = { kind: 'down' };
    const second = candidate('second', lease.client(error), clock);
    await clock.advance(5_000);
    assert.equal(second.unreachable(), 'the lease was not reached yet');
    delete error.kind;
    await clock.advance(5_000);
    assert.equal(second.unreachable(), undefined);
    for (const kind of ['down', 'hangs', 'deaf'] as const) {
      error.kind = kind;
      await clock.advance(32_000);
      assert.equal(second.unreachable(), undefined);
      await clock.advance(8_000);
      assert.match(second.unreachable() ?? '', /^the lease was not reached for (3[6-9]|4\d) s$/);
      delete error.kind;
      await clock.advance(12_000);
      assert.equal(second.unreachable(), undefined);
    }
    assert.equal(first.unreachable(), undefined);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('renews every 2 s', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const first = candidate('first', lease.client(), clock);
    await clock.advance(60_000);
    assert.equal(lease.updates, 31);
    await first.stop();
  });

  it('throws the error of the work, and lets the lease expire', async () => {
    const clock = new SimulatedClock();
    const lease = new SimulatedLease();
    const elector = new LeaderElector({ leases: lease.client(), identity: 'first', clock, log: silentLog });
    await assert.rejects(
      elector.run(new AbortController().signal, async () => {
        throw new Error('broken work');
      }),
      /broken work/,
    );
    assert.equal(lease.lease?.record.holder, 'first');
    assert.equal(clock.pending, 0);
  });

  describe('lets a process write', () => {
    it('only while it leads', async () => {
      const clock = new SimulatedClock();
      const lease = new SimulatedLease();
      const error: { kind?: Outage } = {};
      const first = candidate('first', lease.client(error), clock, () =>
        clock.sleep(3_000, new AbortController().signal),
      );
      const second = candidate('second', lease.client(), clock);
      assert.throws(first.check, LeadershipLost);
      await clock.until(first.works, 'the first leads');
      first.check();
      assert.throws(second.check, LeadershipLost);
      error.kind = 'down';
      await clock.advance(9_000);
      first.check();
      await clock.advance(1_000);
      assert.throws(first.check, LeadershipLost, 'while its work ends');
      await clock.until(second.works, 'the second leads', 20_000);
      second.check();
      assert.throws(first.check, LeadershipLost);
      await second.stop();
      assert.throws(second.check, LeadershipLost);
    });

    it('not after its virtual machine was suspended, until it has renewed the lease', async () => {
      const clock = new SimulatedClock();
      const first = candidate('first', new SimulatedLease().client(), clock);
      await clock.until(first.works, 'it leads');
      clock.jump(60_000);
      assert.throws(first.check, /not renewed for 60 s/);
      await clock.advance(2_000);
      first.check();
      clock.jump(-86_400_000);
      first.check();
      await first.stop();
    });
  });

  describe('reports the requests that may have been sent beside another leader', () => {
    const cases: readonly [what: string, pausedSeconds: number, checks: number, expected: readonly object[]][] = [
      ['after a pause that outlasted the lease', 19, 2, [{ requests: 2, renewedSecondsAgo: 19 }]],
      ['and none after a shorter pause', 14, 2, []],
      ['and none if nothing was being sent', 19, 0, []],
    ];
    for (const [what, pausedSeconds, checks, expected] of cases)
      it(what, async () => {
        const clock = new SimulatedClock();
        const first = candidate('first', new SimulatedLease().client(), clock);
        await clock.until(first.works, 'it leads');
        first.check();
        // What was sent before does not count.
        await clock.advance(1);
        for (let count = 0; count < checks; count++) first.check();
        clock.jump(1_000 * pausedSeconds);
        await clock.advance(1);
        assert.deepEqual(first.pauses, expected);
        await first.stop();
        assert.equal(clock.pending, 0);
      });

    it('also if the work ends before it was reported', async () => {
      const clock = new SimulatedClock();
      const first = candidate('first', new SimulatedLease().client(), clock);
      await clock.until(first.works, 'it leads');
      await clock.advance(1);
      first.check();
      clock.jump(19_000);
      await first.stop();
      assert.deepEqual([first.pauses, clock.pending], [[{ requests: 1, renewedSecondsAgo: 19 }], 0]);
    });
  });

  describe('if another client writes the lease', () => {
    const vandalised: readonly [what: string, write: (lease: Lease) => Lease | undefined][] = [
      ['deletes it', () => undefined],
      ['removes its holder', ({ record, resourceVersion }) => ({ record: { ...record, holder: '' }, resourceVersion })],
      [
        'sets its duration to 0',
        ({ record, resourceVersion }) => ({ record: { ...record, durationSeconds: 0 }, resourceVersion }),
      ],
      [
        'writes another holder',
        ({ record, resourceVersion }) => ({ record: { ...record, holder: 'nobody' }, resourceVersion }),
      ],
      [
        'sets its duration to a day and its holder to one that does not exist',
        ({ record, resourceVersion }) => ({
          record: { ...record, holder: 'nobody', durationSeconds: 86_400 },
          resourceVersion,
        }),
      ],
      [
        'writes no number for its duration',
        ({ record, resourceVersion }) => ({
          record: { ...record, holder: 'x', durationSeconds: Number.NaN },
          resourceVersion,
        }),
      ],
    ];
    for (const [what, write] of vandalised) {
      it(`and ${what}, never two of three processes may write, and one may again within 80 s`, async () => {
        const clock = new SimulatedClock();
        const lease = new SimulatedLease();
        const all = ['first', 'second', 'third'].map((name) => candidate(name, lease.client(), clock));
        const leaders = () =>
          all.filter(({ check }) => {
            try {
              check();
              return true;
            } catch {
              return false;
            }
          }).length;
        await clock.until(() => leaders() === 1, 'one leads');
        await clock.advance(5_000);
        lease.vandalise(write);
        let [most, last] = [0, 0];
        for (let passed = 0; passed < 80_000; passed += 250) {
          await clock.advance(250);
          last = leaders();
          most = Math.max(most, last);
        }
        assert.deepEqual([most, last], [1, 1]);
        for (const { stop } of all) await stop();
      });
    }
  });
});
