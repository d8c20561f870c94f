import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL, REMEDIATION_ANNOTATION, REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../labels.ts';
import { planFor } from '../plan.ts';
import { Crash, type FakeWorld } from '../testing/fakeWorld.ts';
import { MINUTE, NOW, sampleError } from '../testing/fixtures.ts';
import { conditionOf, ready, until } from '../testing/life.ts';

import {
  cordon,
  giveAway,
  hasEnded,
  hold,
  isSettled,
  leavingIn,
  loseForGood,
  nodeOf,
  order,
  pass,
  populated,
} from '../testing/nodeLife.ts';
import { cordoned, node, podOn, REPLACE, scene, terminating } from '../testing/nodeScenes.ts';
import { admit, waitsForTurn } from './admission.ts';

const ofNodes = (calls: readonly string[]) =>
  calls.filter((call) => /cordon|restore|evict|Terminate/.test(call)).filter((call, i, all) => call !== all[i - 1]);

describe('a pool whose nodes are to go', () => {
  const asked = Array.from({ length: 150 }, (_, i) => node(`n${i}`, { annotations: REPLACE }));

  it('is woken when another one has its nodes again, if it waits for that', () => {
    const fleet = { disrupted: ['api'], failures: [] };
    assert.equal(waitsForTurn(scene({ nodes: asked, rest: { fleet } })), true);
    assert.equal(waitsForTurn(scene({ rest: { fleet } })), false);
    assert.equal(waitsForTurn(scene({ nodes: asked })), false);
  });

  it('lets no more of them go at a time than its status can remember', () => {
    const observed = scene({
      nodes: asked,
      spec: { disruption: { maxUnavailable: '100%' } },
      group: { scaling: { min: 2, max: 200, desired: 150 } },
    });
    assert.equal(admit(observed).begin.length, 100);
  });

  it('asks the pods last that were kept before, so that one that hangs does not keep the others', () => {
    const entry = terminating('a');
    const a = node('a', cordoned);
    const pods = { ok: true, value: ['x', 'y', 'z'].map((name) => podOn({ name })) } as const;
    const blocked = ['x', 'y'].map((name) => ({ node: 'a', namespace: 'shop', name, budget: 'cart' }));
    const operations = {
      fresh: true,
      nextAt: NOW,
      nodes: [{ entry, node: { ok: true, value: a } as const, pods }],
      blocked,
    };
    const { steps } = planFor(scene({ nodes: [a, node('b'), node('c')], entries: [entry], rest: { operations } }));
    const asked = steps.flatMap((step) => (step.kind === 'evictPods' ? step.evictions : []));
    assert.deepEqual(
      asked.map(({ pod }) => pod.name),
      ['z', 'x', 'y'],
    );
  });
});

describe('a node that is to be replaced', () => {
  it('is cordoned, emptied and ended, in this order, and another one takes its place', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(ofNodes(world.calls), ['cordon node', 'evict', 'TerminateInstanceInAutoScalingGroup']);
    assert.deepEqual([world.ended, world.evicted, world.nodes.length], [['i-b'], ['shop/cart-b 30'], 3]);
    assert.equal(ready(world), 'True');
    assert.equal(nodeOf(world, 'b'), undefined);
  });

  it('is told of', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(
      world.events.filter(({ reason }) => ['InstanceEnded', 'NodeStays'].includes(reason)),
      [{ type: 'Normal', reason: 'InstanceEnded', message: 'end instance i-b of node b' }],
    );
  });

  it('waits for its pods as long as a budget keeps them, and goes when it no longer does', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 10);
    assert.deepEqual([world.ended, nodeOf(world, 'b')?.unschedulable], [[], true]);
    const [reserved] = leavingIn(world);
    assert.deepEqual([reserved?.name, reserved?.instance, reserved?.operation], ['b', 'i-b', 'Replace']);
    world.pods = world.pods.map(({ keptBy: _kept, ...pod }) => pod);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('does not go while another one is out of which no watch has told yet', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.isWatchBehind = true;
    cordon(world, 'c', true);
    await pass(world, deps, 10);
    assert.deepEqual([ofNodes(world.calls), leavingIn(world)], [[], []]);
    world.isWatchBehind = false;
    cordon(world, 'c', false);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('does not go while nobody can count the nodes that are out, and then it does', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.fails = (call) => (call === 'list nodes of group' ? sampleError('unavailable') : undefined);
    await pass(world, deps, 10);
    assert.deepEqual([ofNodes(world.calls), leavingIn(world)], [[], []]);
    world.fails = () => undefined;
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
  });

  it('gives its turn back when another one is out before it was touched, and goes after that', async () => {
    const { world, deps: first } = await populated();
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.fails = (call) => (call === 'cordon node' ? sampleError('unavailable') : undefined);
    await pass(world, first, 1);
    assert.deepEqual(
      leavingIn(world).map(({ name }) => name),
      ['b'],
    );
    world.fails = () => undefined;
    cordon(world, 'c', true);
    const deps = world.start();
    await pass(world, deps, 10);
    assert.deepEqual(
      [ofNodes(world.calls).includes('TerminateInstanceInAutoScalingGroup'), leavingIn(world)],
      [false, []],
    );
    assert.equal(nodeOf(world, 'b')?.unschedulable, false);
    cordon(world, 'c', false);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('is asked for its pods every five seconds while it drains, and AWS at each poll', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 1);
    world.calls.splice(0);
    await pass(world, deps, 1);
    const counted = Object.fromEntries(
      ['list pods', 'evict', 'DescribeNodegroup'].map((call) => [
        call,
        world.calls.filter((each) => each === call).length,
      ]),
    );
    assert.deepEqual(counted, { 'list pods': 15, evict: 15, DescribeNodegroup: 3 });
  });

  it('stays when it is not empty in time, takes pods again, and is tried again when somebody says so', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 30);
    const stayed = nodeOf(world, 'b');
    assert.deepEqual([stayed?.annotations, stayed?.unschedulable], [{ [REPLACE_ANNOTATION]: 'timed-out' }, false]);
    assert.deepEqual([isSettled(world), world.ended], [true, []]);
    world.pods = [];
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  for (const before of [false, true]) {
    it(`stays ${before ? 'cordoned, as it was before,' : 'and takes pods again'} when its annotation is taken away`, async () => {
      const { world, deps } = await populated();
      const node = nodeOf(world, 'b');
      assert.ok(node);
      world.setNode({ ...node, unschedulable: before });
      world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
      order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
      await pass(world, deps, 2);
      assert.equal(nodeOf(world, 'b')?.unschedulable, true);
      order(world, 'b', {});
      await pass(world, deps, 1);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable, isSettled(world)], [{}, before, true]);
      assert.deepEqual(world.ended, []);
    });
  }

  it('is left alone when its instance is not one of the pool’s', async () => {
    const { world, deps } = await populated();
    const node = nodeOf(world, 'b');
    assert.ok(node);
    // A kubelet says that it is an instance of another group.
    giveAway(world, 'i-b', 'eks-api');
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const after = nodeOf(world, 'b');
    assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
    assert.deepEqual([world.ended, world.evicted, isSettled(world)], [[], [], true]);
  });

  for (const providerID of ['', 'aws:///eu-west-1a/i-a', 'aws:///eu-west-1a/uid-b', `azure:///${'x'.repeat(500)}`]) {
    it(`is left alone when its kubelet says that it is ${JSON.stringify(providerID.slice(0, 30))}, and others are not`, async () => {
      const { world, deps } = await populated();
      const node = nodeOf(world, 'b');
      assert.ok(node);
      world.setNode({ ...node, providerID });
      for (const name of ['b', 'c']) order(world, name, { [REPLACE_ANNOTATION]: 'true' });
      await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement of the other');
      assert.deepEqual([world.ended, world.evicted], [['i-c'], ['shop/cart-c 30']]);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
    });
  }

  it('no longer counts when it is being deleted, its instance ends, and somebody’s finalizer holds it', async () => {
    const { world, deps } = await populated();
    hold(world, 24 * 60 * MINUTE);
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const node = nodeOf(world, 'b');
    assert.ok(node && leavingIn(world)[0]?.ended);
    world.setNode({ ...node, deleting: true });
    await pass(world, deps, 30);
    assert.deepEqual([world.ended, isSettled(world)], [['i-b'], true]);
  });

  it('stays when AWS refuses to end its instance', async () => {
    const { world, deps } = await populated();
    world.fails = (call) => (call.startsWith('Terminate') ? sampleError('refused') : undefined);
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const after = nodeOf(world, 'b');
    assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
    assert.deepEqual([world.calls.filter((call) => call.startsWith('Terminate')).length, isSettled(world)], [1, true]);
  });

  for (const call of ['TerminateInstanceInAutoScalingGroup', 'DescribeInstances', 'list pods', 'evict']) {
    it(`stays when ${call} is denied until its time is over, and no other pool waits for it any longer`, async () => {
      const { world, deps } = await populated();
      world.fails = (each) => (each === call ? sampleError('denied') : undefined);
      order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
      await pass(world, deps, 10);
      assert.equal(isSettled(world), false);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /AccessDenied/);
      const reported = world.events.filter(({ reason }) => reason === 'Met' || reason === 'AccessDenied').length;
      await pass(world, deps, 20);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'timed-out' }, false]);
      assert.deepEqual([isSettled(world), world.ended, reported], [true, [], 1]);
    });
  }

  it('is followed by the next one when its place is taken', async () => {
    const { world, deps } = await populated();
    for (const name of ['a', 'b', 'c']) order(world, name, { [REPLACE_ANNOTATION]: 'true' });
    let most = 0;
    await until(
      world,
      deps,
      () => {
        most = Math.max(most, world.nodes.filter(({ unschedulable }) => unschedulable).length, leavingIn(world).length);
        return world.ended.length === 3 && isSettled(world);
      },
      'the end of all three',
    );
    assert.deepEqual([world.ended, most], [['i-a', 'i-b', 'i-c'], 1]);
  });
});

describe('a node that is to be removed', () => {
  it('makes the group smaller by one', async () => {
    const { world, deps } = await populated();
    order(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the removal');
    await pass(world, deps, 30);
    const [group] = world.groups.values();
    assert.deepEqual(
      [world.ended, world.nodes.map(({ name }) => name), group?.scaling.desired],
      [['i-b'], ['a', 'c'], 2],
    );
  });
});

describe('a node that is being drained to be removed', () => {
  it('stays when somebody says meanwhile how many nodes there are to be', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    order(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await pass(world, deps, 2);
    const pool = world.pools.get('web');
    assert.ok(pool && nodeOf(world, 'b')?.unschedulable);
    world.apply({ ...pool, spec: { ...pool.spec, scaling: { min: 2, max: 5, desired: 3 } } });
    world.pods = [];
    await pass(world, deps, 30);
    const [group] = world.groups.values();
    assert.deepEqual([world.ended, group?.scaling.desired, nodeOf(world, 'b')?.unschedulable], [[], 3, false]);
    assert.match(conditionOf(world, 'NodesLeaving') ?? '', /^True RemovalRefused: b is not removed: spec.scaling/);
  });
});

describe('a node that fails', () => {
  const remediation = { unhealthyAfter: '15m', maxUnhealthy: '40%' };

  /** The node b fails, and so do as many others. */
  async function failing(...names: readonly string[]) {
    const { world, deps } = await populated({ remediation });
    for (const name of names) {
      const node = nodeOf(world, name);
      assert.ok(node);
      world.setNode({ ...node, ready: 'Unknown', readyReason: 'NodeStatusUnknown' });
    }
    return { world, deps };
  }

  it('is replaced when it has failed for long enough, and not before', async () => {
    const { world, deps } = await failing('b');
    await pass(world, deps, 14);
    assert.deepEqual([isSettled(world), world.ended], [true, []]);
    await pass(world, deps, 3);
    await until(world, deps, () => isSettled(world), 'the end of the disruption');
    assert.deepEqual([world.ended, world.nodes.length], [['i-b'], 3]);
  });

  it('is replaced also where it never joined', async () => {
    const { world, deps } = await populated({ remediation });
    const late = loseForGood(world, 'c');
    await pass(world, deps, 60);
    assert.deepEqual([world.ended, world.nodes.length, isSettled(world)], [[late], 3, true]);
  });

  it('takes no share from others while AWS denies its end where it never joined, and is tried again now and then', async () => {
    const { world, deps } = await populated({ remediation });
    const late = loseForGood(world, 'c');
    world.fails = (call) => (call.startsWith('Terminate') ? sampleError('denied') : undefined);
    const tries = () => world.calls.filter((call) => call.startsWith('Terminate')).length;
    await pass(world, deps, 120);
    assert.deepEqual([isSettled(world), world.ended], [true, []]);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /AccessDenied/);
    assert.ok(tries() >= 4 && tries() <= 12, `${tries()} tries in two hours`);
    assert.equal(world.events.filter(({ reason }) => reason === 'AccessDenied').length, 1);
    world.fails = () => undefined;
    await pass(world, deps, 30);
    assert.deepEqual([world.ended, isSettled(world)], [[late], true]);
  });

  it('is not taken for one that never joined when it only lost the label of its group', async () => {
    const { world, deps } = await populated({
      remediation: { unhealthyAfter: '15m', maxUnhealthy: 2 },
      disruption: { maxUnavailable: 3 },
    });
    const node = nodeOf(world, 'c');
    assert.ok(node);
    const { [NODE_GROUP_LABEL]: _group, ...labels } = node.labels;
    world.setNode({ ...node, labels });
    world.nodes = world.nodes.filter(({ name }) => name !== 'b');
    world.fails = (call) => (call.startsWith('Terminate') ? sampleError('busy') : undefined);
    await pass(world, deps, 30);
    const begun = world.events.filter(({ reason }) => reason === 'NodeDisruptionBegun').map(({ message }) => message);
    assert.deepEqual(begun, ['replace instance i-b, which never became a node']);
    assert.deepEqual(
      leavingIn(world).map(({ name }) => name),
      ['b'],
    );
  });

  it('stays when it recovers while it is drained', async () => {
    const { world, deps } = await failing('b');
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    await pass(world, deps, 17);
    const node = nodeOf(world, 'b');
    assert.equal(node?.unschedulable, true);
    world.setNode({ ...node, ready: 'True', readyReason: 'KubeletReady' });
    await pass(world, deps, 1);
    assert.deepEqual([nodeOf(world, 'b')?.unschedulable, isSettled(world), world.ended], [false, true, []]);
  });

  it('stays when too many do, and the pool says so', async () => {
    const { world, deps } = await failing('a', 'b');
    await pass(world, deps, 30);
    assert.deepEqual([world.ended, isSettled(world)], [[], true]);
    assert.equal(
      conditionOf(world, 'NodesLeaving'),
      'True TooManyUnhealthy: 2 nodes fail or have not joined, more than remediation.maxUnhealthy (40%) allows: none of these is replaced.',
    );
  });

  it('stays when its drain is given up, and is not tried for ever', async () => {
    const { world, deps } = await failing('b');
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    await pass(world, deps, 60);
    assert.deepEqual(
      [nodeOf(world, 'b')?.annotations, isSettled(world), world.ended],
      [{ [REMEDIATION_ANNOTATION]: 'timed-out' }, true, []],
    );
  });
});

describe('a crash before or after any call while nodes go', () => {
  /** Replaces one node and removes another; the process ends at one call and is started again. Returns the calls. */
  async function live(crash: FakeWorld['crash'], hookMs: number): Promise<readonly string[]> {
    const { world, deps: first } = await populated();
    if (hookMs > 0) hold(world, hookMs);
    let deps = first;
    if (crash) world.crash = crash;
    order(world, 'a', { [REMOVE_ANNOTATION]: 'true' });
    order(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    for (;;) {
      try {
        await until(world, deps, () => hasEnded(world, 2), 'the end of both');
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        deps = world.start();
      }
      assert.ok(world.nodes.filter(({ unschedulable }) => unschedulable).length <= 1, 'two nodes are out at a time');
    }
    const [group] = world.groups.values();
    assert.deepEqual([...world.ended].sort(), ['i-a', 'i-b']);
    assert.deepEqual([...world.evicted].sort(), ['shop/cart-a 30', 'shop/cart-b 30']);
    assert.deepEqual([world.nodes.length, group?.scaling.desired], [2, 2]);
    return world.calls;
  }

  it('ends each instance once, and no other', async function () {
    this.timeout(120_000);
    await crashEverywhere(0);
  });

  it('ends each instance once also while a lifecycle hook holds it', async function () {
    this.timeout(120_000);
    await crashEverywhere(MINUTE);
  });

  const isWrite = (call: string) => /^(write|cordon|evict|Terminate)/.test(call);

  /** At each write. The crash suites under test/ visit the reads, too. */
  async function crashEverywhere(hookMs: number): Promise<void> {
    const calls = await live(undefined, hookMs);
    assert.ok(calls.length > 20, `${calls.length} calls`);
    for (const [at, call] of calls.entries()) {
      if (!isWrite(call)) continue;
      for (const when of ['before', 'after'] as const) {
        await live({ at, when }, hookMs).catch((error: unknown) => {
          throw new Error(`a crash ${when} call ${at}, ${call}: ${error}`, { cause: error });
        });
      }
    }
  }
});
