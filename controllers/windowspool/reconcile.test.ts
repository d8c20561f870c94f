import assert from 'node:assert/strict';
import type { WindowsPool } from './api/api.gen.ts';
import { reconcile } from './reconcile.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, NEXT, sampleError, sampleNode, samplePool, settings } from './testing/fixtures.ts';
import { assertBrief, assertBriefs, assertMentions } from './testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  PREREQUISITE_CALLS,
  pendingIn,
  ready,
  readyWorld,
  signal,
  until,
  wake,
} from './testing/life.ts';
import { wholeCondition } from './testing/wholeCondition.ts';

describe('a pool that is applied', () => {
  it('gets its finalizer, its status, its group and its RuntimeClass in this order, and becomes Ready', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const deps = world.start();
    await reconcile('web', deps, signal);
    assert.deepEqual(world.calls.splice(0), [
      'read pool',
      'DescribeNodegroup',
      'DescribeCluster',
      'get ConfigMap amazon-vpc-cni',
      'get Deployment vpc-resource-controller',
      'list Linux nodes',
      'get ConfigMap aws-auth',
      'get MutatingWebhookConfiguration',
      'list Linux groups',
      'list CoreDNS pods',
      'DescribeAddon',
      'DescribeAccessEntry',
      'ListAttachedRolePolicies',
      'DescribeInstanceTypes',
      'DescribeInstanceTypeOfferings',
      'DescribeSubnets',
      'DescribeSecurityGroups',
      'GetEbsEncryptionByDefault',
      'GetRole',
      'add finalizer',
      'write status',
      'CreateNodegroup',
      'create RuntimeClass',
      'write status',
    ]);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual([...world.groups.keys(), ...world.runtimeClasses.keys()], ['web', 'windows-2022']);
  });

  it('causes one creation and its polls, and reads nothing twice', async () => {
    const world = new FakeWorld({ speed: 1 / 9 });
    world.apply(fresh());
    const deps = world.start();
    await until(world, deps, () => conditionOf(world, 'NodeGroupReady')?.startsWith('True') ?? false, 'the group');
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'DescribeCluster',
      ...PREREQUISITE_CALLS,
      'CreateNodegroup',
      'DescribeNodegroup',
      // Once for all pools, until the next resync.
      'ListNodegroups',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      'DescribeAutoScalingGroups',
      'GetParameter',
      'CreateOrUpdateTags',
    ]);
  });

  it('publishes each of its changes once', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    await until(world, world.start(), () => ready(world) === 'True', 'Ready');
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Normal NodeGroupCreated', 'Normal RuntimeClassCreated', 'Normal EnoughNodesVerified'],
    );
  });
});

describe('a pool that is Ready', () => {
  it('makes no AWS calls, writes and events until the next read', async () => {
    const { world, deps } = await readyWorld();
    assert.deepEqual(await reconcile('web', deps, signal), {
      kind: 'requeueAfter',
      ms: deps.readCache.dueAt('web') - world.now,
    });
    assert.deepEqual([world.calls, world.events], [[], []]);
  });

  it('makes no AWS calls at node events, and reports a failing node once', async () => {
    const { world, deps } = await readyWorld();
    world.nodes = world.nodes.map((node, index) => (index === 0 ? { ...node, taints: [] } : node));
    await wake(world, deps);
    world.nodes = world.nodes.map((node) => ({ ...node, resourceVersion: '2' }));
    await wake(world, deps);
    assert.deepEqual(world.calls, ['write node condition', 'write status']);
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning RegistrationTaintMissing'],
    );
  });

  it('asks AWS once about a node that is not on an instance of its group, and does not count it', async () => {
    const { world, deps } = await readyWorld();
    world.nodes = [...world.nodes, sampleNode({ name: 'ip-9', ready: 'False', taints: [] })];
    for (const resourceVersion of ['1', '2', '3']) {
      world.nodes = world.nodes.map((node) => ({ ...node, resourceVersion }));
      await wake(world, deps);
    }
    assert.deepEqual(world.calls, ['DescribeAutoScalingGroups', 'write status']);
    assertBrief(
      conditionOf(world, 'NodesVerified'),
      'True AllVerified',
      '3 nodes',
      '1 node',
      'eks.amazonaws.com/nodegroup=web',
      'ip-9',
    );
    assert.deepEqual(world.pools.get('web')?.status?.nodes?.total, 3);
  });

  it('makes no AWS calls at node events while instances are missing', async () => {
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

  it('reads instances when nodes may be late, and does not report young instances as missing', async () => {
    const { world, deps } = await readyWorld();
    const { faults, state } = world.cloud;
    for (let late = 0; late < 4; late++) faults.nextNode({ neverJoins: true });
    faults.edit({ group: 'web', scalingConfig: { desiredSize: 5 } });
    world.now = deps.readCache.dueAt('web');
    const start = world.now;
    await wake(world, deps);
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    world.now = start + settings.joinGraceMs;
    assert.ok(world.now < deps.readCache.dueAt('web'), 'the next read is due later');
    // Others take the place of the two that are late.
    for (const { id, joined } of [...state.instances.values()]) if (!joined) faults.terminateInstance({ node: id });
    world.calls.splice(0);
    await wake(world, deps);
    assert.deepEqual(world.awsCalls(), ['DescribeNodegroup', 'DescribeAutoScalingGroups', 'DescribeInstances']);
    const verified = wholeCondition(world.pools.get('web'), 'NodesVerified');
    assert.equal(verified?.reason, 'Joining');
  });

  it('makes no AWS calls at node events while the cluster cannot be described', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeCluster' ? sampleError('denied') : undefined);
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    world.awsCalls();
    for (let i = 0; i < 5; i++) await reconcile('web', deps, signal);
    assert.deepEqual(world.awsCalls(), []);
  });

  it('corrects the label of a node without AWS calls', async () => {
    const { world, deps } = await readyWorld();
    const [first, ...others] = world.nodes;
    const labels = { ...first?.labels, 'node.kubernetes.io/windows-build': '10.0.17763' };
    world.nodes = [{ ...(first ?? sampleNode()), labels }, ...others];
    await wake(world, deps);
    assert.deepEqual([world.awsCalls(), ready(world)], [[], 'True']);
    assert.equal(world.nodes[0]?.labels['node.kubernetes.io/windows-build'], '10.0.20348');
  });

  it('applies its spec with one update, and reads the result', async () => {
    const { world, deps } = await readyWorld({}, { speed: 1 });
    world.apply(fresh({ labels: { team: 'web' }, nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }));
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
      'CreateOrUpdateTags',
    ]);
    assert.deepEqual([world.groups.get('web')?.scaling.maxSize, world.groups.get('web')?.labels.team], [9, 'web']);
  });

  it('sends no second update while the result of the first cannot be read', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }));
    world.fails = (call) => (call === 'DescribeUpdate' ? sampleError('denied') : undefined);
    await wake(world, deps);
    world.now += settings.resyncMs * 2;
    await wake(world, deps);
    // EKS rolled the failed update back.
    world.cloud.faults.edit({ group: 'web', scalingConfig: { maxSize: 5 } });
    world.awsCalls();
    for (let i = 0; i < 3; i++) {
      world.now += settings.resyncMs * 2;
      await wake(world, deps);
    }
    const changes = world.awsCalls().filter((call) => !/^(Describe|Get|List)/.test(call));
    assert.deepEqual(changes, []);
  });

  it('updates its tags', async () => {
    const { world, deps } = await readyWorld();
    const spec = fresh().spec;
    const tagged = (tags: Record<string, string>) => fresh({ ...spec, nodeGroup: { ...spec.nodeGroup, tags } });
    world.apply(tagged({ team: 'web', cost: '7' }));
    await wake(world, deps);
    world.apply(tagged({ cost: '8' }));
    await wake(world, deps);
    const { 'winpool.dev/created-from': _, ...tags } = world.groups.get('web')?.tags ?? {};
    assert.deepEqual(tags, { cost: '8', 'winpool.dev/pool': 'web' });
    const kept = world.pools.get('web')?.status?.tracking?.applied?.filter((entry) => entry.startsWith('tag '));
    assert.deepEqual(
      kept?.map((entry) => entry.replace(/=.*/, '')),
      ['tag cost', 'tag winpool.dev/pool'],
    );
  });

  it('is pinned again to its cluster when its status was lost', async () => {
    const { world, deps } = await readyWorld();
    const pool = world.pools.get('web');
    if (pool) {
      const { status, ...rest } = pool;
      world.pools.set('web', rest);
      await wake(world, deps);
      assert.deepEqual(world.pools.get('web')?.status?.cluster, status?.cluster);
      assert.deepEqual(world.pools.get('web')?.status?.tracking?.applied, status?.tracking?.applied);
    }
  });
});

describe('a pool that changes all the time', () => {
  /** The reads of a Ready pool in a minute with a change each 100 ms. */
  async function readsWith(change: (world: FakeWorld, turn: number) => void) {
    const { world, deps } = await readyWorld();
    world.now += 10 * MINUTE;
    await wake(world, deps);
    world.calls.splice(0);
    for (let turn = 0; turn < 600; turn++) {
      change(world, turn);
      await reconcile('web', deps, signal);
      world.now += 100;
    }
    const reads = world.calls.filter((call) => call === 'DescribeNodegroup').length;
    return { world, deps, reads };
  }

  it('by its spec is read within its own allowance, and applied in the end', async () => {
    const { world, deps, reads } = await readsWith((now, turn) =>
      now.apply(samplePool({ nodeGroup: { scaling: { minSize: 1, maxSize: 4 + (turn % 2) } } })),
    );
    assert.ok(reads >= 20 && reads <= 50, `${reads}`);
    await until(
      world,
      deps,
      () => world.cloud.state.groups.get('web')?.nodegroup.scalingConfig?.maxSize === 5,
      'size 5',
    );
  });

  it('by an annotation that a kubelet sets on its node is read within the same allowance', async () => {
    const { reads } = await readsWith((now, turn) => {
      const [first = assert.fail(), ...others] = now.nodes;
      const annotations = turn % 2 ? {} : { 'winpool.dev/replace': 'true' };
      now.nodes = [{ ...first, annotations, resourceVersion: `${turn}` }, ...others];
    });
    assert.ok(reads <= 50, `${reads}`);
  });
});

describe('a pool that waits for the disruption budget', () => {
  it('is registered to be woken until its update begins', async () => {
    const { world, deps } = await readyWorld();
    assert.equal(world.waiting.has('web'), false);
    const startTime = new Date(world.now).toISOString();
    const disruption = { startTime, reason: 'Update', change: 'another update' } as const;
    world.apply(samplePool({}, { metadata: { name: 'api', uid: 'api' }, status: { disruption } }));
    world.apply(fresh({ nodeGroup: { releaseVersion: NEXT } }));
    await wake(world, deps);
    assertMentions(conditionOf(world, 'UpToDate'), 'WaitingForBudget', 'api');
    assert.equal(world.waiting.has('web'), true);
    world.pools.delete('api');
    await wake(world, deps);
    assert.ok(world.awsCalls().includes('UpdateNodegroupVersion'));
    assert.equal(world.waiting.has('web'), false);
  });
});

describe('a pool whose RuntimeClass changes', () => {
  const own = { runtimeClass: { name: 'web' } };

  it('releases the former one', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });

  it('still releases the former one after a failed deletion', async () => {
    const { world, deps } = await readyWorld();
    world.fails = (call) => (call === 'delete RuntimeClass' ? sampleError('unavailable') : undefined);
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['windows-2022', 'web']);
    world.fails = () => undefined;
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });

  it('still releases the former one after a pause', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ ...own, paused: true }));
    await wake(world, deps);
    world.apply(fresh(own));
    await wake(world, deps);
    assert.deepEqual([...world.runtimeClasses.keys()], ['web']);
  });
});

describe('a group of the same name that the pool does not manage', () => {
  it('is never changed, and its nodes are neither counted nor labelled', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.edit({ group: 'web', tags: {} });
    world.nodes = world.nodes.map((node) => ({ ...node, labels: { 'eks.amazonaws.com/nodegroup': 'web' } }));
    world.now = deps.readCache.dueAt('web');
    const { groups, nodes } = structuredClone({ groups: world.groups, nodes: world.nodes });
    world.apply(fresh({ labels: { team: 'web' } }));
    // One answer does not prove that the group is not the pool's any more.
    for (const _read of [1, 2]) {
      await wake(world, deps);
      world.now = deps.readCache.dueAt('web');
    }
    assert.deepEqual({ groups: world.groups, nodes: world.nodes }, { groups, nodes });
    const { nodes: counts, summary } = world.pools.get('web')?.status ?? {};
    assert.deepEqual([counts?.total, summary?.nodes], [0, '0/-']);
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the deletion');
    assert.deepEqual([...world.groups], [...groups]);
  });
});

describe('a pool that is deleted', () => {
  it('is deleted after its group, together with its RuntimeClass and its metrics', async () => {
    const { world, deps } = await readyWorld({}, { speed: 1 });
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the end');
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'DeleteNodegroup',
      'DescribeNodegroup',
      'DescribeNodegroup',
      // One answer does not prove that the group is gone.
      'DescribeNodegroup',
      // Status may not know of a second group.
      'DescribeNodegroup',
    ]);
    assert.deepEqual([world.groups.size, world.runtimeClasses.size, world.metrics.size], [0, 0, 0]);
    assert.deepEqual(await reconcile('web', deps, signal), { kind: 'done' });
  });

  it('does not wait for an update whose result cannot be read', async () => {
    const { world, deps } = await readyWorld({}, { speed: 1 });
    world.apply(fresh({ nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }));
    await wake(world, deps);
    world.fails = (call) => (call === 'DescribeUpdate' ? sampleError('denied') : undefined);
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the end');
    assert.equal(world.awsCalls().includes('DescribeUpdate'), false);
  });

  it('does not report missing nodes, however long EKS takes to terminate them', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.speed({ speed: 1 / 10_000 });
    world.remove('web');
    await wake(world, deps);
    world.nodes = [];
    for (const minutes of [0, 1, settings.joinGraceMs / MINUTE + 1]) {
      world.now += minutes * MINUTE;
      await wake(world, deps);
      assertBrief(conditionOf(world, 'NodesVerified'), 'Unknown Pending', '0 of 3', 'web');
    }
    assert.deepEqual(
      world.events.filter(({ type }) => type === 'Warning'),
      [],
    );
  });

  it('after nodes were missing is not read at every node event', async () => {
    const { world, deps } = await readyWorld();
    const [first, second, third] = world.nodes;
    assert.ok(first && second && third);
    world.nodes = [first, second];
    await until(
      world,
      deps,
      () => conditionOf(world, 'NodesVerified')?.startsWith('False NodesMissing') === true,
      'it',
    );
    world.cloud.faults.speed({ speed: 1 / 1_000 });
    world.remove('web');
    await wake(world, deps);
    world.awsCalls();
    for (const nodes of [[first, second], [first], []]) {
      world.nodes = nodes;
      await reconcile('web', deps, signal);
    }
    assert.deepEqual(world.awsCalls(), []);
  });

  it('while it is still in the cache is forgotten', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const deps = world.start();
    const stale = { ...deps, pools: { ...deps.pools, read: async () => ({ ok: true, value: undefined }) as const } };
    assert.deepEqual(await reconcile('web', stale, signal), { kind: 'done' });
    assert.deepEqual([world.metrics.size, world.created], [0, 0]);
  });
});

describe('a pool that is older in the cache than in the API server', () => {
  const withMost = (maxSize: number) => samplePool({ nodeGroup: { scaling: { maxSize } } });

  /** Reconciles with the first pool in the cache and the second one in the API server. */
  async function reconcileWith(cached: WindowsPool, current: WindowsPool) {
    const { world, deps } = await readyWorld();
    world.apply(cached);
    const older = world.pools.get('web');
    world.apply(current);
    const result = await reconcile('web', { ...deps, pools: { ...deps.pools, get: () => older } }, signal);
    return { updates: updatesIn(world), result, world };
  }

  const updatesIn = ({ calls }: FakeWorld) => calls.filter((call) => call.startsWith('Update'));

  it('is applied to AWS as it is in the API server', async () => {
    const { world } = await reconcileWith(withMost(8), withMost(9));
    await until(world, world.start(), () => world.groups.get('web')?.scaling.maxSize === 9, 'the update');
    assert.deepEqual(updatesIn(world), ['UpdateNodegroupConfig']);
  });

  it('is not applied to AWS if it equals the group in the API server', async () => {
    const { updates, result } = await reconcileWith(withMost(8), samplePool());
    assert.deepEqual([updates, result.kind], [[], 'requeueAfter']);
  });

  it('gets no status, and is reconciled again', async () => {
    const { updates, result, world } = await reconcileWith(samplePool({ paused: true }), withMost(9));
    assert.deepEqual([updates, result.kind, world.calls.at(-1)], [[], 'requeue', 'write status']);
    assert.equal(ready(world), 'True');
  });
});

describe('a paused pool', () => {
  it('creates nothing, shows its pending steps, and is not reconciled in a hot loop', async () => {
    const world = new FakeWorld();
    world.apply(fresh({ paused: true }));
    const next = await wake(world, world.start());
    assertBriefs(pendingIn(world), [
      ['Paused', 'create node group web'],
      ['Paused', 'create RuntimeClass windows-2022'],
    ]);
    assert.equal(world.created, 0);
    assert.ok(next.kind === 'requeueAfter' && next.ms > MINUTE, JSON.stringify(next));
  });
});
