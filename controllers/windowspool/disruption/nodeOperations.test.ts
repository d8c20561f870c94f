import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL, REMEDIATION_ANNOTATION, REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../api/labels.ts';
import { POD_ADDRESSES } from '../nodes/windowsVersions.ts';
import { planFor } from '../plan.ts';
import { reconcile } from '../reconcile.ts';
import { nodeGroupIn } from '../rules/nodeSource.ts';
import { waitOf } from '../rules/ruleChains.ts';
import { Crash, type FakeWorld } from '../testing/fakeWorld.ts';
import { MINUTE, NOW, sampleError } from '../testing/fixtures.ts';
import { assertBrief } from '../testing/goldenTexts.ts';
import { conditionOf, ready, signal, until } from '../testing/life.ts';

import {
  annotate,
  cordon,
  delayTerminations,
  hasEnded,
  isSettled,
  moveInstance,
  nodeOf,
  pass,
  populated,
  replaceByUnregistered,
  terminatingIn,
} from '../testing/nodeLife.ts';
import { cordoned, node, podOn, REPLACE, scene, terminating } from '../testing/nodeScenes.ts';

const ofNodes = (calls: readonly string[]) =>
  calls.filter((call) => /cordon|restore|evict|Terminate/.test(call)).filter((call, i, all) => call !== all[i - 1]);

describe('a pool with requested nodes', () => {
  const asked = Array.from({ length: 150 }, (_, i) => node(`n${i}`, { annotations: REPLACE }));

  const otherPools = { disrupted: ['api'], failures: [] };
  const counted = { ok: false, error: sampleError('unavailable') } as const;
  const waits = {
    'while another pool replaces nodes waits for pools': [scene({ nodes: asked, rest: { otherPools } }), 'pools'],
    'while EKS updates its group waits for the next read': [
      scene({ nodes: asked, group: { status: 'UPDATING' } }),
      'read',
    ],
    'while its nodes cannot be counted waits for the next read': [scene({ nodes: asked, rest: { counted } }), 'read'],
    'while one of them is missing waits for a change of a node': [scene({ nodes: asked.slice(0, 2) }), 'watch'],
  } as const;
  for (const [title, [s, on]] of Object.entries(waits))
    it(title, () => assert.equal(waitOf(planFor(s).decisions, 'annotations')?.on, on));

  it('without requested nodes waits for nothing', () => {
    assert.equal(waitOf(planFor(scene({ rest: { otherPools } })).decisions, 'annotations'), undefined);
  });

  it('starts at most as many nodes at a time as its status can record', () => {
    const observed = scene({
      nodes: asked,
      spec: { disruption: { maxUnavailable: '100%' } },
      group: { scaling: { minSize: 2, maxSize: 200, desiredSize: 150 } },
    });
    assert.equal(observed.due.nodes.begin.length, 100);
  });

  it('evicts pods last that were blocked before, so that a webhook that hangs does not block the others', () => {
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

describe('a node with the replace annotation', () => {
  it('is cordoned, drained and terminated, in this order, and another node replaces it', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(ofNodes(world.calls), ['cordon node', 'evict', 'TerminateInstanceInAutoScalingGroup']);
    assert.deepEqual([world.ended, world.evicted, world.nodes.length], [['i-b'], ['shop/cart-b 30'], 3]);
    assert.equal(ready(world), 'True');
    assert.equal(nodeOf(world, 'b'), undefined);
  });

  it('is terminated at most 5 s after its pods have left it', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    const { now } = world;
    await until(world, deps, () => world.ended.length > 0, 'the termination');
    assert.ok(world.now - now <= 5_000, `it took ${world.now - now} ms`);
  });

  it('is reported when its instance is terminated', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(
      world.events.filter(({ reason }) => ['InstanceTerminated', 'NodeDisruptionCanceled'].includes(reason)),
      [{ type: 'Normal', reason: 'InstanceTerminated', message: 'Started to terminate instance i-b of node b' }],
    );
  });

  it('waits while a PodDisruptionBudget blocks its pods, and is terminated after that', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 10);
    assert.deepEqual([world.ended, nodeOf(world, 'b')?.unschedulable], [[], true]);
    const [reserved] = terminatingIn(world);
    assert.deepEqual([reserved?.name, reserved?.instanceID, reserved?.operation], ['b', 'i-b', 'Replace']);
    world.pods = world.pods.map(({ keptBy: _kept, ...pod }) => pod);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('waits while another node is unavailable that the watch has not reported yet', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.isWatchBehind = true;
    cordon(world, 'c', true);
    await pass(world, deps, 10);
    assert.deepEqual([ofNodes(world.calls), terminatingIn(world)], [[], []]);
    world.isWatchBehind = false;
    cordon(world, 'c', false);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('waits while the unavailable nodes cannot be counted', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.fails = (call) => (call === 'list nodes of group' ? sampleError('unavailable') : undefined);
    await pass(world, deps, 10);
    assert.deepEqual([ofNodes(world.calls), terminatingIn(world)], [[], []]);
    world.fails = () => undefined;
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
  });

  it('releases its turn when another node becomes unavailable first, and is replaced after that', async () => {
    const { world, deps: first } = await populated();
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    world.fails = (call) => (call === 'cordon node' ? sampleError('unavailable') : undefined);
    await pass(world, first, 1);
    assert.deepEqual(
      terminatingIn(world).map(({ name }) => name),
      ['b'],
    );
    world.fails = () => undefined;
    cordon(world, 'c', true);
    const deps = world.start();
    await pass(world, deps, 10);
    assert.deepEqual(
      [ofNodes(world.calls).includes('TerminateInstanceInAutoScalingGroup'), terminatingIn(world)],
      [false, []],
    );
    assert.equal(nodeOf(world, 'b')?.unschedulable, false);
    cordon(world, 'c', false);
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  it('is read every five seconds while nothing changes for minutes, and its group at each poll', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 2);
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

  it('is uncordoned when its drain times out, and replaced when a user sets the annotation again', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 30);
    const stayed = nodeOf(world, 'b');
    assert.deepEqual([stayed?.annotations, stayed?.unschedulable], [{ [REPLACE_ANNOTATION]: 'timed-out' }, false]);
    assert.deepEqual([isSettled(world), world.ended], [true, []]);
    world.pods = [];
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement');
    assert.deepEqual(world.ended, ['i-b']);
  });

  for (const before of [false, true]) {
    it(`${before ? 'stays cordoned, as it was before,' : 'is uncordoned'} when its annotation is removed`, async () => {
      const { world, deps } = await populated();
      const node = nodeOf(world, 'b');
      assert.ok(node);
      world.setNode({ ...node, unschedulable: before });
      world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
      annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
      await pass(world, deps, 2);
      assert.equal(nodeOf(world, 'b')?.unschedulable, true);
      annotate(world, 'b', {});
      await pass(world, deps, 1);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable, isSettled(world)], [{}, before, true]);
      assert.deepEqual(world.ended, []);
    });
  }

  it('is not changed when its instance does not belong to the pool', async () => {
    const { world, deps } = await populated();
    const node = nodeOf(world, 'b');
    assert.ok(node);
    // A kubelet reports an instance of another group.
    moveInstance(world, 'i-b', 'eks-api');
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const after = nodeOf(world, 'b');
    assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
    assert.deepEqual([world.ended, world.evicted, isSettled(world)], [[], [], true]);
  });

  it('is not changed when its kubelet reports the instance of another node, and other nodes are replaced', async () => {
    const { world, deps } = await populated();
    const node = nodeOf(world, 'b');
    assert.ok(node);
    world.setNode({ ...node, providerID: 'aws:///eu-west-1a/i-a' });
    for (const name of ['b', 'c']) annotate(world, name, { [REPLACE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the replacement of the other');
    assert.deepEqual([world.ended, world.evicted], [['i-c'], ['shop/cart-c 30']]);
    const after = nodeOf(world, 'b');
    assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
  });

  for (const providerID of ['', 'aws:///eu-west-1a/uid-b', `azure:///${'x'.repeat(500)}`]) {
    it(`is neither changed nor counted when its kubelet reports the providerID ${JSON.stringify(providerID.slice(0, 30))}`, async () => {
      const { world, deps } = await populated();
      const node = nodeOf(world, 'b');
      assert.ok(node);
      world.setNode({ ...node, providerID });
      annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
      await pass(world, deps, 5);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'true' }, false]);
      assert.deepEqual([world.ended, world.evicted, isSettled(world)], [[], [], true]);
      assert.match(conditionOf(world, 'NodesVerified') ?? '', /is not counted, because .*: b\./);
    });
  }

  it('is done when its instance is terminating and the finalizer of another controller keeps the Node', async () => {
    const { world, deps } = await populated();
    delayTerminations(world, 24 * 60 * MINUTE);
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const node = nodeOf(world, 'b');
    assert.ok(node && terminatingIn(world)[0]?.terminationAcceptedTime);
    world.setNode({ ...node, deleting: true });
    await pass(world, deps, 30);
    assert.deepEqual([world.ended, isSettled(world)], [['i-b'], true]);
  });

  it('is uncordoned when AWS refuses to terminate its instance', async () => {
    const { world, deps } = await populated();
    world.fails = (call) => (call.startsWith('Terminate') ? sampleError('refused') : undefined);
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    const after = nodeOf(world, 'b');
    assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'refused' }, false]);
    assert.deepEqual([world.calls.filter((call) => call.startsWith('Terminate')).length, isSettled(world)], [1, true]);
  });

  for (const call of ['TerminateInstanceInAutoScalingGroup', 'DescribeInstances', 'list pods', 'evict']) {
    it(`is uncordoned when ${call} is denied until the drain times out, and other pools no longer wait for it`, async () => {
      const { world, deps } = await populated();
      world.fails = (each) => (each === call ? sampleError('denied') : undefined);
      annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
      await pass(world, deps, 10);
      assert.equal(isSettled(world), false);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /AccessDenied/);
      const eventCount = world.events.filter(({ reason }) => reason === 'Met' || reason === 'AccessDenied').length;
      await pass(world, deps, 20);
      const after = nodeOf(world, 'b');
      assert.deepEqual([after?.annotations, after?.unschedulable], [{ [REPLACE_ANNOTATION]: 'timed-out' }, false]);
      assert.deepEqual([isSettled(world), world.ended, eventCount], [true, [], 1]);
    });
  }

  it('is followed by the next node when another one has replaced it', async () => {
    const { world, deps } = await populated();
    for (const name of ['a', 'b', 'c']) annotate(world, name, { [REPLACE_ANNOTATION]: 'true' });
    let most = 0;
    await until(
      world,
      deps,
      () => {
        most = Math.max(
          most,
          world.nodes.filter(({ unschedulable }) => unschedulable).length,
          terminatingIn(world).length,
        );
        return world.ended.length === 3 && isSettled(world);
      },
      'the replacement of all three',
    );
    assert.deepEqual([world.ended, most], [['i-a', 'i-b', 'i-c'], 1]);
  });
});

describe('a node with the remove annotation', () => {
  it('is terminated, and the group shrinks by one', async () => {
    const { world, deps } = await populated();
    annotate(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await until(world, deps, () => world.ended.length > 0 && isSettled(world), 'the removal');
    await pass(world, deps, 30);
    const [group] = world.groups.values();
    assert.deepEqual(
      [world.ended, world.nodes.map(({ name }) => name), group?.scaling.desiredSize],
      [['i-b'], ['a', 'c'], 2],
    );
  });
});

describe('a node that is drained to remove it', () => {
  it('is uncordoned when a user sets desiredSize in the meantime', async () => {
    const { world, deps } = await populated();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await pass(world, deps, 2);
    const pool = world.pools.get('web');
    assert.ok(pool && nodeOf(world, 'b')?.unschedulable);
    world.apply({
      ...pool,
      spec: {
        ...pool.spec,
        nodeGroup: { ...nodeGroupIn(pool.spec), scaling: { minSize: 2, maxSize: 5, desiredSize: 3 } },
      },
    });
    world.pods = [];
    await pass(world, deps, 30);
    const [group] = world.groups.values();
    assert.deepEqual([world.ended, group?.scaling.desiredSize, nodeOf(world, 'b')?.unschedulable], [[], 3, false]);
    assertBrief(conditionOf(world, 'Disrupting'), 'True RemovalRejected', 'Node b', 'nodeGroup.scaling.desiredSize');
  });
});

describe('a node that fails verification, with remediation.policy Replace,', () => {
  const remediation = { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' };

  /** A pool whose nodes of these names fail. */
  async function failing(...names: readonly string[]) {
    const { world, deps } = await populated({ remediation });
    for (const name of names) {
      const node = nodeOf(world, name);
      assert.ok(node);
      world.setNode({ ...node, ready: 'Unknown', readyReason: 'NodeStatusUnknown' });
    }
    return { world, deps };
  }

  it('is replaced when it has failed for longer than unhealthyAfter', async () => {
    const { world, deps } = await failing('b');
    await pass(world, deps, 14);
    assert.deepEqual([isSettled(world), world.ended], [true, []]);
    await pass(world, deps, 3);
    await until(world, deps, () => isSettled(world), 'the end of the disruption');
    assert.deepEqual([world.ended, world.nodes.length], [['i-b'], 3]);
  });

  it('is replaced when it never joined', async () => {
    const { world, deps } = await populated({ remediation });
    const late = replaceByUnregistered(world, 'c');
    await pass(world, deps, 60);
    assert.deepEqual([world.ended, world.nodes.length, isSettled(world)], [[late], 3, true]);
  });

  it('does not delay other pools while AWS denies its termination, which is retried', async () => {
    const { world, deps } = await populated({ remediation });
    const late = replaceByUnregistered(world, 'c');
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

  it('is not replaced like an instance that never joined when it only lost the label of its group', async () => {
    const { world, deps } = await populated({
      remediation: { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: 2 },
      disruption: { maxUnavailable: 3 },
    });
    const node = nodeOf(world, 'c');
    assert.ok(node);
    const { [NODE_GROUP_LABEL]: _group, ...labels } = node.labels;
    world.setNode({ ...node, labels });
    world.nodes = world.nodes.filter(({ name }) => name !== 'b');
    world.fails = (call) => (call.startsWith('Terminate') ? sampleError('busy') : undefined);
    await pass(world, deps, 30);
    const begun = world.events.filter(({ reason }) => reason === 'NodeDisruptionStarted').map(({ message }) => message);
    assert.deepEqual(begun, ['Started to replace instance i-b, which did not join']);
    assert.deepEqual(
      terminatingIn(world).map(({ name }) => name),
      ['b'],
    );
  });

  it('is replaced once when it fails within its join grace, as the VPC resource controller reports', async () => {
    const remediation = { policy: 'Replace' as const, unhealthyAfter: '2m', maxUnhealthy: '40%' };
    const { world, deps } = await populated({ remediation });
    const node = nodeOf(world, 'c');
    assert.ok(node);
    const { [POD_ADDRESSES]: _addresses, ...allocatable } = node.allocatable;
    world.setNode({ ...node, createdAt: world.now, allocatable, verified: undefined });
    const message = 'The instance type m5.large is not supported for Windows';
    world.controllerWarnings.set('c', [{ reason: 'Unsupported', message }]);
    await pass(world, deps, 30);
    const reasons = world.events.map(({ reason }) => reason);
    assert.deepEqual(
      [reasons.filter((reason) => reason === 'NodeDisruptionStarted').length, world.ended],
      [1, ['i-c']],
      reasons.join(),
    );
  });

  it('is uncordoned when it recovers during the drain', async () => {
    const { world, deps } = await failing('b');
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    await pass(world, deps, 17);
    const node = nodeOf(world, 'b');
    assert.equal(node?.unschedulable, true);
    world.setNode({ ...node, ready: 'True', readyReason: 'KubeletReady' });
    await pass(world, deps, 1);
    assert.deepEqual([nodeOf(world, 'b')?.unschedulable, isSettled(world), world.ended], [false, true, []]);
  });

  it('is not replaced when more nodes than maxUnhealthy fail, which the pool reports', async () => {
    const { world, deps } = await failing('a', 'b');
    await pass(world, deps, 30);
    assert.deepEqual([world.ended, isSettled(world)], [[], true]);
    assertBrief(
      conditionOf(world, 'RemediationAllowed'),
      'False TooManyUnhealthy',
      '2 nodes',
      'remediation.maxUnhealthy',
      '40%',
      'NodesVerified',
    );
  });

  it('is uncordoned when its drain times out, and not drained again', async () => {
    const { world, deps } = await failing('b');
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    await pass(world, deps, 60);
    assert.deepEqual(
      [nodeOf(world, 'b')?.annotations, isSettled(world), world.ended],
      [{ [REMEDIATION_ANNOTATION]: 'timed-out' }, true, []],
    );
  });
});

describe('a crash before or after any call while nodes are terminated', () => {
  /** Replaces one node and removes another; the process crashes at one call and is restarted. Returns the calls. */
  async function live(crash: FakeWorld['crash'], hookMs: number): Promise<readonly string[]> {
    const { world, deps: first } = await populated();
    if (hookMs > 0) delayTerminations(world, hookMs);
    let deps = first;
    if (crash) world.crash = crash;
    annotate(world, 'a', { [REMOVE_ANNOTATION]: 'true' });
    annotate(world, 'b', { [REPLACE_ANNOTATION]: 'true' });
    for (;;) {
      try {
        await until(world, deps, () => hasEnded(world, 2), 'the termination of both', 150);
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        deps = world.start();
      }
      assert.ok(
        world.nodes.filter(({ unschedulable }) => unschedulable).length <= 1,
        'two nodes are unavailable at a time',
      );
    }
    const [group] = world.groups.values();
    assert.deepEqual([...world.ended].sort(), ['i-a', 'i-b']);
    assert.deepEqual([...world.evicted].sort(), ['shop/cart-a 30', 'shop/cart-b 30']);
    assert.deepEqual([world.nodes.length, group?.scaling.desiredSize], [2, 2]);
    return world.calls;
  }

  it('terminates each instance once, and no other', async function () {
    this.timeout(120_000);
    await crashEverywhere(0);
  });

  it('terminates each instance once, also while a lifecycle hook delays the termination', async function () {
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

describe('a node whose kubelet uncordons it, and requests its replacement again and again', () => {
  it('delays the replacement of the other nodes of its pool by one drain, also if its name is the first one', async () => {
    const { world, deps } = await populated();
    const request = (name: string) => {
      const seen = nodeOf(world, name) ?? assert.fail();
      world.setNode({ ...seen, annotations: { [REPLACE_ANNOTATION]: 'true' }, unschedulable: false });
    };
    request('a');
    const start = world.now;
    for (let isRequested = false; world.nodes.some(({ name }) => name === 'b'); ) {
      assert.ok(world.now < start + 60 * MINUTE, 'b is not replaced within an hour');
      const next = await reconcile('web', deps, signal);
      const { unschedulable, annotations } = nodeOf(world, 'a') ?? assert.fail();
      if (unschedulable || annotations[REPLACE_ANNOTATION] !== 'true') request('a');
      if (!isRequested && world.now > start + MINUTE) request('b');
      isRequested ||= world.now > start + MINUTE;
      world.now += next.kind === 'requeueAfter' ? Math.max(next.ms, 1) : 2_000;
    }
  });
});
