/** The replacement of a node group from its first call to its last. */

import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL } from './api/labels.ts';
import type { Deps } from './reconcile.ts';
import { nodeGroupIn } from './rules/nodeSource.ts';
import type { FakeWorld } from './testing/fakeWorld.ts';
import { type SpecChange, sampleError, sampleNode } from './testing/fixtures.ts';
import { assertBrief, assertMentions } from './testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  isReplaced,
  nodesIn,
  pendingIn,
  ready,
  readyWorld,
  stateOf,
  until,
} from './testing/life.ts';
import { pass } from './testing/nodeLife.ts';
import { HASHED } from './testing/replacementScenes.ts';

const { nodeGroup } = fresh().spec;

/** A pool of so many nodes whose spec has another instance type than its group. */
async function changed(size: number, spec: SpecChange = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const scaling = { minSize: size, maxSize: 2 * size };
  const before = { ...nodeGroup, immutableChangePolicy: 'Replace', instanceTypes: ['m5.large'], scaling };
  const { world, deps } = await readyWorld({ ...spec, nodeGroup: before as never });
  world.pods = [];
  setType(world, 'm5.xlarge');
  return { world, deps };
}

function setType(world: FakeWorld, type: string, spec: object = {}): void {
  const pool = world.pools.get('web') ?? assert.fail();
  const after = { ...pool.spec.nodeGroup, instanceTypes: [type] };
  world.apply({ ...pool, spec: { ...pool.spec, ...spec, nodeGroup: after as never } });
}

/** The pool until the new group has served it, and what was asked of AWS meanwhile. */
async function replaced(size: number, maxUnavailable: number) {
  const { world, deps } = await changed(size, { disruption: { maxUnavailable } });
  const start = world.now;
  await until(world, deps, isReplaced(world), 'a replaced group');
  return { world, seconds: (world.now - start) / 1_000, calls: world.awsCalls() };
}

describe('a node group of 30 nodes that is replaced', () => {
  const SIZE = 30;
  for (const maxUnavailable of [1, 3]) {
    it(`costs less than ten calls for each node, and a drain each, with maxUnavailable ${maxUnavailable}`, async () => {
      const { world, seconds, calls } = await replaced(SIZE, maxUnavailable);
      const countOf = (...names: readonly string[]) => calls.filter((call) => names.includes(call)).length;
      assert.ok(calls.length < 10 * SIZE, `${calls.length} calls`);
      // A call for each node and one to confirm whose instance it is, before its cordon and before its termination.
      assert.equal(countOf('TerminateInstanceInAutoScalingGroup'), SIZE);
      assert.equal(countOf('DescribeInstances'), 2 * SIZE);
      assert.deepEqual(
        calls.filter((call) => /^(Create|Update|Delete)Nodegroup/.test(call)),
        ['CreateNodegroup', 'UpdateNodegroupConfig', 'DeleteNodegroup'],
      );
      // An empty node needs four passes of five seconds.
      const rounds = SIZE / maxUnavailable;
      assert.ok(seconds < 20 * rounds + 60, `${seconds} s`);
      assert.deepEqual([...world.groups.keys()], [HASHED]);
      assert.equal(nodesIn(world, HASHED).length, SIZE);
    });
  }
});

describe('the replacement of a node group', () => {
  it('stops while the pool is paused, shows the next step, and continues when the pool is resumed', async () => {
    const { world, deps } = await changed(3);
    const isAmid = () => nodesIn(world, 'web').length === 2;
    await until(world, deps, isAmid, 'a drained node');
    const pause = (paused: boolean) => setType(world, 'm5.xlarge', { paused });
    pause(true);
    await pass(world, deps, 5);
    const before = [[...world.groups.values()], nodesIn(world, 'web').map(({ name }) => name)];
    world.awsCalls();
    await pass(world, deps, 60);
    assert.deepEqual([[...world.groups.values()], nodesIn(world, 'web').map(({ name }) => name)], before);
    assert.deepEqual(
      world.awsCalls().filter((call) => !/^(Describe|List|Get)/.test(call)),
      [],
    );
    assert.match(conditionOf(world, 'UpToDate') ?? '', /It continues when the pool is resumed\.$/);
    assertMentions(pendingIn(world).join(), 'Paused: ', 'remove node ip-', 'terminate instance i-');
    assert.equal(ready(world), 'True');
    pause(false);
    await until(world, deps, isReplaced(world), 'a replaced group');
    assert.deepEqual([...world.groups.keys()], [HASHED]);
  });

  it('leaves the old group untouched while nodes of the new one fail, and shows why', async () => {
    const { world, deps } = await changed(2);
    world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
    const first = world.groups.get('web');
    const nodes = nodesIn(world, 'web');
    await pass(world, deps, 120);
    assert.deepEqual(world.groups.get('web'), first);
    assert.deepEqual(nodesIn(world, 'web'), nodes);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /^False WrongBuild: 1 of 4 nodes failed verification/);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /1 of 2 required nodes of web-2d044d verified; until then/);
    assert.equal(ready(world), 'True');
    const [bad = assert.fail()] = nodesIn(world, HASHED).filter(({ verified }) => verified?.status === 'False');
    world.cloud.faults.terminateInstance({ node: bad.name });
    await until(world, deps, isReplaced(world), 'a replaced group');
    assert.equal(nodesIn(world, 'web').length, 0);
  });

  it('names the group of a node that loses its label, and of one that is not on an instance of its group', async () => {
    const { world, deps } = await changed(2);
    await until(world, deps, () => world.groups.has(HASHED), 'the new group');
    setType(world, 'm5.xlarge', { paused: true });
    await pass(world, deps, 5);
    const foreign = sampleNode({ name: 'ip-9', ready: 'False', taints: [] });
    world.nodes = [...world.nodes, foreign];
    await pass(world, deps, 1);
    assertMentions(conditionOf(world, 'NodesVerified'), '1 node', 'eks.amazonaws.com/nodegroup=web');
    const [lost = assert.fail()] = nodesIn(world, 'web');
    const { [NODE_GROUP_LABEL]: _group, ...labels } = lost.labels;
    world.nodes = world.nodes
      .filter((node) => node !== foreign)
      .map((node) => (node === lost ? { ...node, labels } : node));
    await pass(world, deps, 1);
    assertBrief(
      conditionOf(world, 'NodesVerified'),
      'False MembershipLabelRemoved',
      '1 node',
      'eks.amazonaws.com/nodegroup=web',
    );
  });

  it('leaves the old group untouched while EKS rejects the new one, and creates it when EKS accepts it', async () => {
    const { world, deps } = await changed(2);
    const first = world.groups.get('web');
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('limit') : undefined);
    await pass(world, deps, 5);
    assert.deepEqual([...world.groups.values()], [first]);
    assert.match(conditionOf(world, 'NodeGroupReady') ?? '', /^False QuotaExceeded: .*EKS rejected the creation/);
    assert.equal(ready(world), 'True');
    world.fails = () => undefined;
    await until(world, deps, isReplaced(world), 'a replaced group');
    assert.deepEqual([...world.groups.keys()], [HASHED]);
  });

  it('ends with one group when the status is lost while the pool is paused, and replacements are refused from then on', async () => {
    const { world, deps } = await changed(2);
    await until(world, deps, () => nodesIn(world, HASHED).length === 2, 'nodes of both groups');
    const pool = world.pools.get('web') ?? assert.fail();
    const refusing = { ...nodeGroupIn(pool.spec), immutableChangePolicy: 'Reject' as const };
    const { status: _lost, ...paused } = {
      ...pool,
      spec: { ...pool.spec, paused: true, nodeGroup: refusing },
    };
    world.pools.set('web', paused);
    const restarted = world.start();
    await pass(world, restarted, 5);
    assert.deepEqual([...world.groups.keys()], ['web', HASHED]);
    world.apply({ ...(world.pools.get('web') ?? assert.fail()), spec: { ...paused.spec, paused: false } });
    await until(world, restarted, () => world.groups.size === 1, 'one group', 100);
    assert.deepEqual([[...world.groups.keys()], nodesIn(world, HASHED).length], [[HASHED], 2]);
  });

  it('ends with the old group when the spec goes back while its nodes are drained', async () => {
    const { world, deps } = await changed(3);
    await until(world, deps, () => nodesIn(world, 'web').length === 2, 'a drained node');
    setType(world, 'm5.large');
    await until(world, deps, isReplaced(world), 'the old group alone');
    assert.deepEqual([...world.groups.keys()], ['web']);
    const nodes = nodesIn(world, 'web');
    assert.deepEqual([nodes.length, nodes.some(({ unschedulable }) => unschedulable)], [3, false]);
  });

  for (const isRestarted of [false, true]) {
    it(`leaves a group that is found when the status is lost, and the operator ${isRestarted ? 'was restarted' : 'still runs'}`, async () => {
      const { world, deps } = await changed(2);
      await until(world, deps, isReplaced(world), 'a replaced group');
      const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', pool);
      await hours(world, isRestarted ? world.start() : deps, 1);
      assert.deepEqual([...world.groups.keys()], [HASHED]);
      assert.deepEqual([stateOf(world)?.name, ready(world)], [HASHED, 'True']);
    });
  }

  it('is not repeated, nor its group left behind, when the pool is restored from a backup of before', async () => {
    const { world, deps } = await readyWorld({
      nodeGroup: { ...nodeGroup, immutableChangePolicy: 'Replace' } as never,
    });
    const backup = world.pools.get('web') ?? assert.fail();
    setType(world, 'm5.xlarge');
    await until(world, deps, isReplaced(world), 'a replaced group');
    world.restore(backup);
    await until(world, world.start(), isReplaced(world), 'a group of the restored spec');
    assert.deepEqual(
      [...world.groups.values()].map(({ name, instanceTypes }) => [name, instanceTypes]),
      [['web', nodeGroup.instanceTypes]],
    );
    assert.equal(ready(world), 'True');
  });

  for (const isReplacedYet of [false, true]) {
    it(`leaves no group behind when a pool is deleted whose status is from before, ${isReplacedYet ? 'after' : 'during'} it`, async () => {
      const { world, deps } = await readyWorld({
        nodeGroup: { ...nodeGroup, immutableChangePolicy: 'Replace' } as never,
      });
      const backup = world.pools.get('web') ?? assert.fail();
      setType(world, 'm5.xlarge');
      const amid = () => nodesIn(world, HASHED).length > 0;
      await until(world, deps, isReplacedYet ? isReplaced(world) : amid, 'a new group');
      world.restore(backup);
      world.remove('web');
      await until(world, world.start(), () => !world.pools.has('web'), 'the end of the pool', 200);
      assert.deepEqual([...world.groups.keys()], []);
    });
  }
});
