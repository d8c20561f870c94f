import assert from 'node:assert/strict';
import { reconcile } from './reconcile.ts';
import { Crash, FakeWorld } from './testing/fakeWorld.ts';
import { sampleError, settings } from './testing/fixtures.ts';
import {
  fresh,
  openFailure,
  PREREQUISITE_CALLS,
  RETRIES,
  ready,
  readyWorld,
  retry,
  signal,
  until,
  wake,
} from './testing/life.ts';

describe('an error', () => {
  const lasting = ['denied', 'refused', 'limit', 'unknown', 'busy', 'throttled', 'unavailable'] as const;
  for (const kind of lasting) {
    it(`${kind}: a creation is sent once before the next poll, regardless of the number of events`, async () => {
      const world = new FakeWorld();
      world.fails = (call) => (call === 'CreateNodegroup' ? sampleError(kind) : undefined);
      world.apply(fresh());
      const deps = world.start();
      for (let i = 0; i < 5; i++) await wake(world, deps);
      const calls = ['DescribeNodegroup', 'DescribeCluster', ...PREREQUISITE_CALLS, 'CreateNodegroup'];
      assert.deepEqual(world.awsCalls(), calls);
    });
  }

  it('of a rejected creation is reported once, and retried after the creation retry interval', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    world.apply(fresh());
    const deps = world.start();
    const start = world.now;
    const next = await wake(world, deps);
    assert.deepEqual(next, { kind: 'requeueAfter', ms: start + settings.createRetryMs - world.now });
    const reasons = world.events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    assert.deepEqual(reasons, ['CreateRejected']);
  });

  it('of a rejected creation keeps its time at events before the next attempt', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    const before = openFailure(world.pools.get('web')?.status?.nodeGroup)?.time;
    world.now += settings.createRetryMs / 2;
    await wake(world, deps);
    assert.equal(openFailure(world.pools.get('web')?.status?.nodeGroup)?.time, before);
  });

  it('of a rejected creation is retried once for each other value of the annotation, but not when the annotation is removed', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    const creations = () => world.awsCalls().filter((call) => call === 'CreateNodegroup').length;
    assert.equal(creations(), 1);
    for (const [value, isRetried] of RETRIES) {
      retry(world, value);
      for (let event = 0; event < 3; event++) await wake(world, deps);
      assert.equal(creations(), isRetried ? 1 : 0, `after ${value}`);
    }
  });

  it('that is transient leaves nothing behind: throttled for 20 calls', async () => {
    const world = new FakeWorld();
    let left = 20;
    world.fails = (call) => (/^[A-Z]/.test(call) && left-- > 0 ? sampleError('throttled') : undefined);
    world.apply(fresh());
    await until(world, world.start(), () => ready(world) === 'True', 'Ready');
    assert.equal(world.created, 1);
  });

  for (const call of ['write status', 'read pool']) {
    it(`with the call "${call}" since the start of the process is visible in the time of the last confirmed status`, async () => {
      const { world } = await readyWorld();
      const deps = world.start();
      const confirmed = () => world.stamps.get('web windowspool_status_confirmed_timestamp_seconds');
      const [began, fails] = [world.now, world.fails];
      world.fails = (name) => (name === call ? sampleError('denied') : undefined);
      world.apply(fresh({ labels: { tier: 'db' } }));
      for (let run = 0; run < 3; run++) {
        await reconcile('web', deps, signal);
        world.now += 60_000;
        assert.equal(confirmed(), began / 1_000);
      }
      world.fails = fails;
      await wake(world, deps);
      assert.equal(confirmed(), world.now / 1_000);
      world.remove('web');
      await until(world, deps, () => world.pools.size === 0, 'the end');
      assert.equal(confirmed(), undefined);
    });
  }

  it('of the status write is retried', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'write status' ? sampleError('conflict') : undefined);
    world.apply(fresh());
    assert.deepEqual(await reconcile('web', world.start(), signal), {
      kind: 'requeue',
    });
    assert.equal(world.created, 0);
  });

  it('of reading the pool is retried, without AWS calls', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'read pool' ? sampleError('unavailable') : undefined);
    world.apply(fresh());
    const next = await reconcile('web', world.start(), signal);
    assert.deepEqual(
      [next, world.awsCalls()],
      [{ kind: 'requeue', cause: 'read pool: unavailableException: the call was unavailable' }, []],
    );
  });

  it('of a single poll is not reported', async () => {
    const { world, deps } = await readyWorld();
    world.now = deps.readCache.dueAt('web');
    world.fails = (call) => (call === 'DescribeNodegroup' ? sampleError('throttled') : undefined);
    assert.deepEqual(await wake(world, deps), {
      kind: 'requeue',
      cause: 'DescribeNodegroup: ThrottlingException: the call was throttled',
    });
    assert.deepEqual([world.calls, world.events], [['DescribeNodegroup'], []]);
  });
});

describe('an operator that is stopping', () => {
  it('takes no further step', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const stop = new AbortController();
    stop.abort(new Error('stopping'));
    await assert.rejects(reconcile('web', world.start(), stop.signal), /stopping/);
    assert.equal(world.created, 0);
  });
});

describe('a crash before or after any call', () => {
  /** Applies, changes and deletes a pool; the process crashes at one call and is restarted. Returns the number of calls. */
  async function live(crash: FakeWorld['crash']): Promise<number> {
    const world = new FakeWorld();
    if (crash) world.crash = crash;
    world.apply(fresh());
    let deps = world.start();
    const untilDespiteCrash = async (isDone: () => boolean, what: string) => {
      for (;;) {
        try {
          return await until(world, deps, isDone, what);
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          deps = world.start();
        }
      }
    };
    await untilDespiteCrash(() => ready(world) === 'True', 'Ready');
    assert.deepEqual([world.groups.size, world.created], [1, 1]);
    world.apply(
      fresh({ nodeGroup: { ...fresh().spec.nodeGroup, tags: { team: 'web' }, scaling: { minSize: 3, maxSize: 9 } } }),
    );
    await untilDespiteCrash(
      () => world.groups.get('web')?.scaling.maxSize === 9 && world.groups.get('web')?.tags.team === 'web',
      'the change',
    );
    await untilDespiteCrash(() => ready(world) === 'True', 'Ready again');
    assert.deepEqual([world.groups.size, world.created, world.updates.size], [1, 1, 1]);
    world.remove('web');
    await untilDespiteCrash(() => world.pools.size === 0, 'the end');
    assert.deepEqual([world.groups.size, world.created, world.runtimeClasses.size], [0, 1, 0]);
    return world.calls.length;
  }

  it('ends in exactly one group, then none', async () => {
    const calls = await live(undefined);
    assert.ok(calls > 20, `${calls} calls`);
    for (let at = 0; at < calls; at++) {
      for (const when of ['before', 'after'] as const) {
        await live({ at, when }).catch((error: unknown) => {
          throw new Error(`a crash ${when} call ${at}: ${error}`, { cause: error });
        });
      }
    }
  });
});
