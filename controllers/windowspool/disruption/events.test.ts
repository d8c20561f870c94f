import assert from 'node:assert/strict';
import { EXCLUDE_FROM_DRAIN_ANNOTATION, PAUSED_ANNOTATION, REMOVE_ANNOTATION } from '../labels.ts';
import { preview, previewText } from '../preview.ts';
import { machine } from '../testing/existingScenes.ts';
import type { FakeWorld } from '../testing/fakeWorld.ts';
import { existingPool, MINUTE, sampleError, settings } from '../testing/fixtures.ts';
import { conditionOf, signal, until, wake } from '../testing/life.ts';
import { giveAway, hasEnded, hold, nodeOf, order, pass, populated } from '../testing/nodeLife.ts';
import { REPLACE } from '../testing/nodeScenes.ts';

const EXCLUDED = { ...REPLACE, [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' };

const reported = (world: FakeWorld) =>
  world.events.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

describe('the events of nodes that go', () => {
  it('tell of a replacement in few words: what begins, what is in the way, what ended, what came', async () => {
    const { world, deps } = await populated();
    // No look falls between the end of the instance and that of its Node.
    world.cloud.faults.speed({ speed: 60 });
    world.events.splice(0);
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', REPLACE);
    await pass(world, deps, 1);
    world.pods = [];
    await until(world, deps, () => hasEnded(world, 1), 'the end');
    const by = world.nodes.at(-1)?.name;
    assert.deepEqual(
      reported(world).map((line) => line.replace(/at 2026.* it is/, 'at some time it is')),
      [
        'Normal NodeDisruptionBegun: replace node b (drain it, end instance i-b)',
        'Warning DrainBlocked: node b is to be replaced, and 1 pod must leave it first: pod shop/cart-b is kept by PodDisruptionBudget cart. Let them go, or take winpool.dev/replace from the node; at some time it is given up.',
        'Normal InstanceEnded: end instance i-b of node b',
        `Normal NodeDisruptionEnded: b is replaced by ${by}`,
      ],
    );
    assert.deepEqual(world.nodeEvents, [
      'b: Normal NodeCordoned',
      'b: Warning DrainBlocked',
      'b: Normal InstanceEnded',
    ]);
  });

  it('say that a removed node is gone, and nothing came', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await until(world, deps, () => hasEnded(world, 1), 'the end');
    assert.ok(reported(world).includes('Normal NodeDisruptionEnded: b is gone'));
  });

  it('name each node once, also where others take longer', async () => {
    const { world, deps } = await populated({ disruption: { maxUnavailable: 2 } });
    world.pods = world.pods.map((pod) => (pod.node === 'b' ? { ...pod, keptBy: 'cart' } : pod));
    for (const name of ['a', 'b']) order(world, name, REPLACE);
    await pass(world, deps, 3);
    assert.deepEqual(world.pools.get('web')?.status?.disruption?.gone, ['a']);
    world.pods = [];
    await until(world, deps, () => hasEnded(world, 2), 'the end of both');
    const last = reported(world).findLast((line) => line.includes('NodeDisruptionEnded'));
    assert.match(last ?? '', /^Normal NodeDisruptionEnded: a and b are replaced by \S+ and \S+$/);
  });

  it('say nothing of an end where the node stays', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', REPLACE);
    await pass(world, deps, 1);
    order(world, 'b', {});
    await pass(world, deps, 30);
    assert.ok(!reported(world).some((line) => line.includes('NodeDisruptionEnded')));
    assert.equal(world.nodeEvents.at(-1), 'b: Normal NodeStays');
  });

  const given: readonly (readonly [string, (world: FakeWorld) => void, string])[] = [
    [
      'pods',
      (world) => {
        world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
      },
      'let node b stay: timed-out: pod shop/cart-b is kept by PodDisruptionBudget cart',
    ],
    [
      'its scaling group',
      (world) => giveAway(world, 'i-b', 'eks-api'),
      "let node b stay: refused: instance i-b of node b belongs to scaling group eks-api, so it is not the pool's",
    ],
    [
      'AWS',
      (world) => {
        const protection = 'the group has no more than its minimum';
        world.fails = (call) =>
          call.startsWith('Terminate') ? sampleError('refused', { message: protection }) : undefined;
      },
      'let node b stay: refused: the group has no more than its minimum',
    ],
  ];
  for (const [what, prepare, want] of given)
    it(`warn of a node that stays because of ${what}, and say why`, async () => {
      const { world, deps } = await populated();
      prepare(world);
      order(world, 'b', REPLACE);
      await pass(world, deps, 20);
      assert.ok(reported(world).includes(`Warning NodeStays: ${want}`));
      assert.equal(world.nodeEvents.at(-1), 'b: Warning NodeStays');
    });

  it('name the pods with which a node ends that is excluded from drain', async () => {
    const { world, deps } = await populated();
    hold(world, 5 * MINUTE);
    order(world, 'b', EXCLUDED);
    await pass(world, deps, 1);
    const lines = reported(world);
    assert.ok(lines.includes('Normal NodeDisruptionBegun: replace node b (end instance i-b with its pods)'));
    assert.ok(lines.includes('Normal InstanceEnded: end instance i-b of node b with its 1 pod'));
    assert.equal(conditionOf(world, 'NodesLeaving'), 'True Draining: instance i-b of node b with its pods ends.');
    assert.deepEqual(world.evicted, []);
  });
});

describe('nodes that would go', () => {
  it('are shown by a pool that was paused meanwhile, and status is not written at each look', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', REPLACE);
    await pass(world, deps, 1);
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } });
    await pass(world, deps, 1);
    world.calls.splice(0);
    await pass(world, deps, 3);
    // Something else wakes the pool before it is time for another look.
    await wake(world, deps);
    world.now += 2_000;
    await wake(world, deps);
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, ['evict 1 pod from node b']);
    assert.ok(!world.calls.includes('write status') && !world.calls.includes('evict'));
  });

  it('are shown by a paused pool, and by a look that writes nothing', async () => {
    const { world, deps } = await populated();
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } });
    order(world, 'b', REPLACE);
    await wake(world, deps);
    const steps = ['replace node b (drain it, end instance i-b)'];
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, steps);
    const now = world.pools.get('web') ?? assert.fail('there is no pool');
    const text = previewText(await preview(now, deps.awsCache, deps, settings, world.now, signal));
    assert.match(text, /when the pool is resumed:\n {4}replace node b \(drain it, end instance i-b\)\./);
    assert.equal(nodeOf(world, 'b')?.unschedulable, false);
  });

  it('are shown before they begin, where nobody is paused', async () => {
    const { world, deps } = await populated();
    order(world, 'b', EXCLUDED);
    const now = world.pools.get('web') ?? assert.fail('there is no pool');
    const text = previewText(await preview(now, deps.awsCache, deps, settings, world.now, signal));
    assert.match(text, /now:\n {4}replace node b \(end instance i-b with its pods\)\./);
  });

  it('are shown of a pool of existing nodes, too', async () => {
    const { world } = await populated();
    world.pools.clear();
    world.nodes = [machine('a'), machine('b')];
    world.apply(existingPool({}, { metadata: { finalizers: [], generation: 0 } }));
    const deps = world.start();
    await wake(world, deps);
    world.apply(existingPool({ paused: true }));
    order(world, 'b', REPLACE);
    await wake(world, deps);
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, ['drain node b, and leave its end to what made it']);
  });
});
