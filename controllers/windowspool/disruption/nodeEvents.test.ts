import assert from 'node:assert/strict';
import { EXCLUDE_FROM_DRAIN_ANNOTATION, PAUSED_ANNOTATION, REMOVE_ANNOTATION } from '../api/labels.ts';
import { preview, previewText } from '../preview.ts';
import { machine } from '../testing/existingScenes.ts';
import type { FakeWorld } from '../testing/fakeWorld.ts';
import { existingPool, MINUTE, sampleError, settings } from '../testing/fixtures.ts';
import { assertBrief, assertBriefs, assertMentions } from '../testing/goldenTexts.ts';
import { conditionOf, pendingIn, signal, until, wake } from '../testing/life.ts';
import { annotate, delayTerminations, hasEnded, moveInstance, nodeOf, pass, populated } from '../testing/nodeLife.ts';
import { REPLACE } from '../testing/nodeScenes.ts';

const EXCLUDED = { ...REPLACE, [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' };

const BLOCKED = ['shop/cart-b', 'PodDisruptionBudget cart'];

const eventsIn = (world: FakeWorld) =>
  world.events.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

describe('the events of terminating nodes', () => {
  it('report the start of a replacement, what blocks it, the termination and the new node', async () => {
    const { world, deps } = await populated();
    // No run falls between the termination of the instance and the deletion of its Node.
    world.cloud.faults.speed({ speed: 60 });
    world.events.splice(0);
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 1);
    world.pods = [];
    await until(world, deps, () => hasEnded(world, 1), 'the end');
    const by = world.nodes.at(-1)?.name;
    assertBriefs(eventsIn(world), [
      ['Normal NodeDisruptionStarted', 'node b', 'i-b'],
      ['Warning DrainBlocked', 'Draining b', ...BLOCKED, 'winpool.dev/replace', 'Times out at'],
      ['Normal InstanceTerminated', 'i-b', 'node b'],
      ['Normal NodeDisruptionFinished', `b is replaced by ${by}`],
    ]);
    assert.deepEqual(world.nodeEvents, [
      'b: Normal NodeCordoned',
      'b: Warning DrainBlocked',
      'b: Normal InstanceTerminated',
    ]);
  });

  it('report that a removed node is gone', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await until(world, deps, () => hasEnded(world, 1), 'the end');
    assert.ok(eventsIn(world).includes('Normal NodeDisruptionFinished: b is gone'));
  });

  it('name each node once, also when other nodes take longer', async () => {
    const { world, deps } = await populated({ disruption: { maxUnavailable: 2 } });
    world.pods = world.pods.map((pod) => (pod.node === 'b' ? { ...pod, keptBy: 'cart' } : pod));
    for (const name of ['a', 'b']) annotate(world, name, REPLACE);
    await pass(world, deps, 3);
    assert.deepEqual(world.pools.get('web')?.status?.disruption?.terminatedNodes, ['a']);
    world.pods = [];
    await until(world, deps, () => hasEnded(world, 2), 'the end of both');
    const last = eventsIn(world).findLast((line) => line.includes('NodeDisruptionFinished'));
    assertBrief(last, 'Normal NodeDisruptionFinished', 'a and b');
  });

  it('report no end when the node stays', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 1);
    annotate(world, 'b', {});
    await pass(world, deps, 30);
    assert.ok(!eventsIn(world).some((line) => line.includes('NodeDisruptionFinished')));
    assert.equal(world.nodeEvents.at(-1), 'b: Normal NodeDisruptionCanceled');
  });

  const given: readonly (readonly [string, (world: FakeWorld) => void, readonly string[]])[] = [
    [
      'pods',
      (world) => {
        world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
      },
      ['node b', 'timed out', ...BLOCKED],
    ],
    ['its scaling group', (world) => moveInstance(world, 'i-b', 'eks-api'), ['node b', 'i-b', 'eks-api']],
    [
      'AWS',
      (world) => {
        const protection = 'the group has no more than its minimum';
        world.fails = (call) =>
          call.startsWith('Terminate') ? sampleError('refused', { message: protection }) : undefined;
      },
      ['node b', 'the group has no more than its minimum'],
    ],
  ];
  for (const [what, prepare, args] of given)
    it(`warn about a node that stays because of ${what}, with the cause`, async () => {
      const { world, deps } = await populated();
      prepare(world);
      annotate(world, 'b', REPLACE);
      await pass(world, deps, 20);
      const canceled = eventsIn(world).filter((line) => line.includes('NodeDisruptionCanceled'));
      assertBriefs(canceled, [['Warning NodeDisruptionCanceled', ...args]]);
      assert.equal(world.nodeEvents.at(-1), 'b: Warning NodeDisruptionCanceled');
    });

  it('name the pods that are terminated with a node that is excluded from drain', async () => {
    const { world, deps } = await populated();
    world.events.splice(0);
    delayTerminations(world, 5 * MINUTE);
    annotate(world, 'b', EXCLUDED);
    await pass(world, deps, 1);
    assertBriefs(eventsIn(world), [
      ['Normal NodeDisruptionStarted', 'node b', 'i-b', 'pods'],
      ['Normal InstanceTerminated', 'i-b', 'node b', '1 pod'],
    ]);
    assertBrief(conditionOf(world, 'Disrupting'), 'True Draining', 'i-b', 'node b');
    assert.deepEqual(world.evicted, []);
  });
});

describe('nodes that would be replaced', () => {
  it('are shown by a pool that was paused in the meantime, without a write of status at each run', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 1);
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } });
    await pass(world, deps, 1);
    world.calls.splice(0);
    await pass(world, deps, 3);
    // Another change triggers the pool before the next read is due.
    await wake(world, deps);
    world.now += 2_000;
    await wake(world, deps);
    assert.deepEqual(pendingIn(world), ['Paused: evict 1 pod from node b']);
    assert.ok(!world.calls.includes('write status') && !world.calls.includes('evict'));
  });

  it('are shown by a paused pool, and by the preview', async () => {
    const { world, deps } = await populated();
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } });
    annotate(world, 'b', REPLACE);
    await wake(world, deps);
    assert.deepEqual(pendingIn(world), ['Paused: replace node b (drain it, terminate instance i-b)']);
    const now = world.pools.get('web') ?? assert.fail('there is no pool');
    const text = previewText(
      await preview(now, { readCache: deps.readCache, sources: deps, settings, now: world.now, signal }),
    );
    assertMentions(text, 'when the pool is resumed', 'replace node b', 'i-b');
    assert.equal(nodeOf(world, 'b')?.unschedulable, false);
  });

  it('are shown by the preview of a pool that is not paused', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', EXCLUDED);
    const now = world.pools.get('web') ?? assert.fail('there is no pool');
    const text = previewText(
      await preview(now, { readCache: deps.readCache, sources: deps, settings, now: world.now, signal }),
    );
    assertMentions(text, 'now:', 'replace node b', 'i-b');
  });

  it('are shown by a pool of existing nodes', async () => {
    const { world } = await populated();
    world.pools.clear();
    world.nodes = [machine('a'), machine('b')];
    world.apply(existingPool({}, { metadata: { finalizers: [], generation: 0 } }));
    const deps = world.start();
    await wake(world, deps);
    world.apply(existingPool({ paused: true }));
    annotate(world, 'b', REPLACE);
    await wake(world, deps);
    assert.deepEqual(pendingIn(world), ['Paused: drain node b; its provisioner must terminate it']);
  });
});
