import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from './api.gen.ts';
import { type Deps, reconcile } from './reconcile.ts';
import type { Next } from './schedule.ts';
import { Crash, FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, sampleNode, samplePool, sampleTrouble, settings } from './testing/fixtures.ts';

const { signal } = new AbortController();
const fresh = (spec: Partial<WindowsPoolSpec> = {}) =>
  samplePool(spec, { metadata: { finalizers: [], generation: 0 } });

const ready = (world: FakeWorld) =>
  world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** One run, and the runs that its own writes wake. */
async function wake(world: FakeWorld, deps: Deps): Promise<Next> {
  for (let run = 0; run < 10; run++) {
    const before = JSON.stringify([...world.pools, ...world.runtimeClasses, world.nodes]);
    const next = await reconcile('web', deps, signal);
    if (JSON.stringify([...world.pools, ...world.runtimeClasses, world.nodes]) === before) return next;
  }
  throw new Error('the pool wakes itself for ever');
}

/** Runs until the wanted is true, at most 30 times, and lets the time pass that each run asks for. */
async function until(world: FakeWorld, deps: Deps, wanted: () => boolean, what: string): Promise<void> {
  for (let run = 0; run < 30; run++) {
    const next = await wake(world, deps);
    if (wanted()) return;
    world.now += next.kind === 'after' ? next.ms : 2_000;
  }
  throw new Error(
    `${what} does not come true: ${JSON.stringify([...world.pools.values()].map(({ status }) => status))}`,
  );
}

async function readyWorld(spec: Partial<WindowsPoolSpec> = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  world.apply(fresh(spec));
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'Ready');
  world.awsCalls();
  world.events.splice(0);
  return { world, deps };
}

describe('a pool that is applied', () => {
  it('gets its finalizer, its memory, its group and its RuntimeClass in this order, and becomes Ready', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const deps = world.start();
    await reconcile('web', deps, signal);
    assert.deepEqual(world.calls.splice(0), [
      'read pool',
      'DescribeNodegroup',
      'DescribeCluster',
      'add finalizer',
      'write status',
      'CreateNodegroup',
      'create RuntimeClass',
      'write status',
    ]);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual([...world.groups.keys(), ...world.runtimeClasses.keys()], ['web', 'windows-2022']);
  });

  it('costs one creation and the polls, and nothing is read twice', async () => {
    const world = new FakeWorld();
    world.looks = 3;
    world.apply(fresh());
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'DescribeCluster',
      'CreateNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
    ]);
  });

  it('tells each of its changes once', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    await until(world, world.start(), () => ready(world) === 'True', 'Ready');
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      [
        'Normal NodeGroupCreated',
        'Normal RuntimeClassCreated',
        'Normal Creating',
        'Normal Pending',
        'Normal Pending',
        'Normal Available',
        'Normal Verified',
        'Normal Active',
        'Normal AllVerified',
      ],
    );
  });
});

describe('a pool that is Ready', () => {
  it('rests: no call to AWS, no write and no event until the next look', async () => {
    const { world, deps } = await readyWorld();
    assert.deepEqual(await reconcile('web', deps, signal), { kind: 'after', ms: deps.sights.dueAt('web') - world.now });
    assert.deepEqual([world.calls, world.events], [[], []]);
  });

  it('asks AWS nothing about the events of its nodes, and tells of a bad one once', async () => {
    const { world, deps } = await readyWorld();
    world.nodes = [...world.nodes, sampleNode({ name: 'ip-9', taints: [] })];
    await wake(world, deps);
    world.nodes = world.nodes.map((node) => ({ ...node, resourceVersion: '2' }));
    await wake(world, deps);
    assert.deepEqual(world.calls, ['write status']);
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning RegistrationTaintMissing'],
    );
  });

  it('asks AWS nothing about the events of its nodes while instances are missing', async () => {
    const { world, deps } = await readyWorld();
    world.nodes = world.nodes.slice(1);
    await until(world, deps, () => world.calls.includes('DescribeInstances'), 'a look for instances');
    await wake(world, deps);
    world.calls.splice(0);
    for (let i = 0; i < 5; i++) {
      world.nodes = world.nodes.map((node) => ({ ...node, resourceVersion: String(i) }));
      await wake(world, deps);
    }
    assert.deepEqual(world.calls, []);
  });

  it('asks AWS nothing about the events of its nodes while the cluster cannot be described', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeCluster' ? sampleTrouble('denied') : undefined);
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    world.awsCalls();
    for (let i = 0; i < 5; i++) await reconcile('web', deps, signal);
    assert.deepEqual(world.awsCalls(), []);
  });

  it('corrects the label of a node without asking AWS', async () => {
    const { world, deps } = await readyWorld();
    const [first, ...others] = world.nodes;
    const labels = { ...first?.labels, 'node.kubernetes.io/windows-build': '10.0.17763' };
    world.nodes = [{ ...(first ?? sampleNode()), labels }, ...others];
    await wake(world, deps);
    assert.deepEqual([world.awsCalls(), ready(world)], [[], 'True']);
    assert.equal(world.nodes[0]?.labels['node.kubernetes.io/windows-build'], '10.0.20348');
  });

  it('follows its spec with one update, whose end it learns', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ labels: { team: 'web' }, scaling: { min: 3, max: 9 } }));
    await wake(world, deps);
    await until(
      world,
      deps,
      () => world.pools.get('web')?.status?.nodeGroup?.update?.status === 'Successful',
      'the end',
    );
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'UpdateNodegroupConfig',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeUpdate',
    ]);
    assert.deepEqual([world.groups.get('web')?.scaling.max, world.groups.get('web')?.labels.team], [9, 'web']);
  });

  it('sends no second update while the end of the first cannot be learnt', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ scaling: { min: 3, max: 9 } }));
    world.fails = (call) => (call === 'DescribeUpdate' ? sampleTrouble('denied') : undefined);
    await wake(world, deps);
    world.now += settings.resyncMs * 2;
    await wake(world, deps);
    // EKS rolled the failed update back.
    const group = world.groups.get('web');
    if (group) world.groups.set('web', { ...group, status: 'ACTIVE', scaling: { ...group.scaling, max: 5 } });
    world.awsCalls();
    for (let i = 0; i < 3; i++) {
      world.now += settings.resyncMs * 2;
      await wake(world, deps);
    }
    assert.deepEqual(new Set(world.awsCalls()), new Set(['DescribeNodegroup', 'DescribeUpdate']));
  });

  it('keeps its tags', async () => {
    const { world, deps } = await readyWorld();
    const spec = fresh().spec;
    const tagged = (tags: Record<string, string>) => fresh({ ...spec, nodeGroup: { ...spec.nodeGroup, tags } });
    world.apply(tagged({ team: 'web', cost: '7' }));
    await wake(world, deps);
    world.apply(tagged({ cost: '8' }));
    await wake(world, deps);
    const { 'winpool.dev/created-from': _, ...tags } = world.groups.get('web')?.tags ?? {};
    assert.deepEqual(tags, { cost: '8', 'winpool.dev/pool': 'web' });
    assert.deepEqual(world.pools.get('web')?.status?.nodeGroup?.tagKeys, ['cost', 'winpool.dev/pool']);
  });

  it('is pinned again to its cluster when its status was lost', async () => {
    const { world, deps } = await readyWorld();
    const pool = world.pools.get('web');
    if (pool) {
      const { status, ...rest } = pool;
      world.pools.set('web', rest);
      await wake(world, deps);
      assert.deepEqual(world.pools.get('web')?.status?.cluster, status?.cluster);
      assert.deepEqual(world.pools.get('web')?.status?.nodeGroup?.tagKeys, status?.nodeGroup?.tagKeys);
    }
  });
});

describe('a pool whose RuntimeClass is another now', () => {
  const own = { runtimeClass: { manage: true, scope: 'Pool', handler: 'runhcs-wcow-process' } } as const;

  it('leaves the former one', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });

  it('does not forget the former one when it could not be deleted at first', async () => {
    const { world, deps } = await readyWorld();
    world.fails = (call) => (call === 'delete RuntimeClass' ? sampleTrouble('unavailable') : undefined);
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['windows-2022', 'web']);
    world.fails = () => undefined;
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });

  it('does not forget the former one while it is paused', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ ...own, paused: true }));
    await wake(world, deps);
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });
});

describe('trouble', () => {
  const lasting = ['denied', 'refused', 'limit', 'unknown', 'busy', 'throttled', 'unavailable'] as const;
  for (const kind of lasting) {
    it(`${kind}: a creation is tried once, however many events come before the next look`, async () => {
      const world = new FakeWorld();
      world.fails = (call) => (call === 'CreateNodegroup' ? sampleTrouble(kind) : undefined);
      world.apply(fresh());
      const deps = world.start();
      for (let i = 0; i < 5; i++) await wake(world, deps);
      assert.deepEqual(world.awsCalls(), ['DescribeNodegroup', 'DescribeCluster', 'CreateNodegroup']);
    });
  }

  it('that was refused is told once, and the next try is a while away', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleTrouble('refused') : undefined);
    world.apply(fresh());
    const deps = world.start();
    const next = await wake(world, deps);
    assert.deepEqual(next, { kind: 'after', ms: settings.createRetryMs });
    const told = world.events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    assert.deepEqual(told, ['CreateRefused']);
  });

  it('that passes leaves nothing behind: throttled for 20 calls', async () => {
    const world = new FakeWorld();
    let left = 20;
    world.fails = (call) => (/^[A-Z]/.test(call) && left-- > 0 ? sampleTrouble('throttled') : undefined);
    world.apply(fresh());
    await until(world, world.start(), () => ready(world) === 'True', 'Ready');
    assert.equal(world.created, 1);
  });

  it('with the write of the status is retried', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'write status' ? sampleTrouble('conflict') : undefined);
    world.apply(fresh());
    assert.deepEqual(await reconcile('web', world.start(), signal), {
      kind: 'retry',
      cause: 'write status: conflictException',
    });
    assert.equal(world.created, 0);
  });

  it('with reading the pool is retried, and AWS is not asked', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'read pool' ? sampleTrouble('unavailable') : undefined);
    world.apply(fresh());
    const next = await reconcile('web', world.start(), signal);
    assert.deepEqual([next, world.awsCalls()], [{ kind: 'retry', cause: 'read pool: unavailableException' }, []]);
  });

  it('that is a single failed look is no news', async () => {
    const { world, deps } = await readyWorld();
    world.now = deps.sights.dueAt('web');
    world.fails = (call) => (call === 'DescribeNodegroup' ? sampleTrouble('throttled') : undefined);
    assert.deepEqual(await wake(world, deps), { kind: 'retry', cause: 'DescribeNodegroup: throttledException' });
    assert.deepEqual([world.calls, world.events], [['read pool', 'DescribeNodegroup'], []]);
  });
});

describe('a foreign group of the same name', () => {
  it('is never changed, and its nodes are neither counted nor labelled', async () => {
    const { world, deps } = await readyWorld();
    const group = world.groups.get('web');
    if (group) world.groups.set('web', { ...group, tags: {} });
    world.nodes = world.nodes.map((node) => ({ ...node, labels: { 'eks.amazonaws.com/nodegroup': 'web' } }));
    world.now = deps.sights.dueAt('web');
    const { groups, nodes } = structuredClone({ groups: world.groups, nodes: world.nodes });
    world.apply(fresh({ labels: { team: 'web' } }));
    await wake(world, deps);
    assert.deepEqual({ groups: world.groups, nodes: world.nodes }, { groups, nodes });
    const { nodes: counts, summary } = world.pools.get('web')?.status ?? {};
    assert.deepEqual([counts?.total, summary?.nodes], [0, '0/-']);
    world.remove('web');
    await wake(world, deps);
    assert.deepEqual([world.pools.size, world.groups], [0, groups]);
  });
});

describe('a pool that is deleted', () => {
  it('goes after its group, and takes its RuntimeClass and its metrics along', async () => {
    const { world, deps } = await readyWorld();
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the end');
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'DeleteNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
    ]);
    assert.deepEqual([world.groups.size, world.runtimeClasses.size, world.metrics.size], [0, 0, 0]);
    assert.deepEqual(await reconcile('web', deps, signal), { kind: 'rest' });
  });

  it('leaves its group and its RuntimeClass with Retain', async () => {
    const { world, deps } = await readyWorld({ deletionPolicy: 'Retain' });
    world.remove('web');
    await wake(world, deps);
    assert.deepEqual([world.pools.size, world.groups.size, world.runtimeClasses.size], [0, 1, 1]);
  });

  it('between the cache and the API server is forgotten', async () => {
    const { world, deps } = await readyWorld();
    world.now = deps.sights.dueAt('web');
    const stale = { ...deps, pools: { ...deps.pools, read: async () => ({ ok: true, value: undefined }) as const } };
    assert.deepEqual(await reconcile('web', stale, signal), { kind: 'rest' });
    assert.deepEqual([world.metrics.size, world.awsCalls()], [0, []]);
  });
});

describe('a paused pool', () => {
  it('creates nothing, says what it would do, and is not looked at in a hot loop', async () => {
    const world = new FakeWorld();
    world.apply(fresh({ paused: true }));
    const next = await wake(world, world.start());
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, [
      'create node group web (WINDOWS_CORE_2022_x86_64, m5.large, 3 nodes, 3 to 5)',
      'create RuntimeClass windows-2022',
    ]);
    assert.equal(world.created, 0);
    assert.ok(next.kind === 'after' && next.ms > MINUTE, JSON.stringify(next));
  });
});

describe('an operator that is told to stop', () => {
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
  /** Applies, changes and deletes a pool; the process ends at one call and is started again. Returns the number of calls. */
  async function live(crash: FakeWorld['crash']): Promise<number> {
    const world = new FakeWorld();
    if (crash) world.crash = crash;
    world.apply(fresh());
    let deps = world.start();
    const stage = async (wanted: () => boolean, what: string) => {
      for (;;) {
        try {
          return await until(world, deps, wanted, what);
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          deps = world.start();
        }
      }
    };
    await stage(() => ready(world) === 'True', 'Ready');
    assert.deepEqual([world.groups.size, world.created], [1, 1]);
    world.apply(
      fresh({ scaling: { min: 3, max: 9 }, nodeGroup: { ...fresh().spec.nodeGroup, tags: { team: 'web' } } }),
    );
    await stage(
      () => world.groups.get('web')?.scaling.max === 9 && world.groups.get('web')?.tags.team === 'web',
      'the change',
    );
    await stage(() => ready(world) === 'True', 'Ready again');
    assert.deepEqual([world.groups.size, world.created, world.updates.size], [1, 1, 1]);
    world.remove('web');
    await stage(() => world.pools.size === 0, 'the end');
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
