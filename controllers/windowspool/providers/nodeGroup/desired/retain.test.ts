import assert from 'node:assert/strict';
import { FINALIZER, GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../../../api/labels.ts';
import { GATE_TAINT } from '../../../nodes/nodeTaints.ts';
import { type Deps, reconcile } from '../../../reconcile.ts';
import { Crash, type FakeWorld } from '../../../testing/fakeWorld.ts';
import { sampleError } from '../../../testing/fixtures.ts';
import { assertBrief, assertBriefs } from '../../../testing/goldenTexts.ts';
import { conditionOf, fresh, readyWorld, signal, until, wake } from '../../../testing/life.ts';

const spec = { deletionPolicy: 'Retain', labels: { team: 'web' } } as const;
const isGone = (world: FakeWorld) => () => world.pools.size === 0;

/** The state of the group after its pool is deleted. */
function rest(world: FakeWorld) {
  const { status, labels, taints, tags } = world.groups.get('web') ?? assert.fail('the group is gone');
  return { status, labels, taints, tags, scalingTags: world.scalingTags() };
}

const LEFT = {
  status: 'ACTIVE',
  labels: { team: 'web' },
  taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
  tags: { cost: '42' },
  // The disk size is valid as long as the group exists, and a user may have set it.
  scalingTags: { 'k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage': '50Gi' },
};

async function worldOfDeletedPool() {
  const { nodeGroup } = fresh().spec;
  const made = await readyWorld({ ...spec, nodeGroup: { ...nodeGroup, tags: { cost: '42' } } });
  made.world.remove('web');
  return made;
}

/** A pool with a gated node and a quarantined node. */
async function gatedWorld() {
  const gate = { policy: 'Gate' } as const;
  const { world, deps } = await readyWorld({
    verification: gate,
    nodeGroup: { scaling: { minSize: 1, maxSize: 5, desiredSize: 3 } },
  });
  const [first, second] = world.nodes;
  assert.ok(first && second);
  world.setNode({ ...first, kernelVersion: '10.0.26100.1', labels: { ...first.labels, ...OTHER_BUILD } });
  world.setNode({
    ...second,
    kernelVersion: '10.0.26100.1',
    labels: { ...second.labels, ...OTHER_BUILD },
    taints: [...second.taints, GATE_TAINT],
  });
  await wake(world, deps);
  assert.deepEqual(ownTaints(world), [QUARANTINE_TAINT_KEY, GATE_TAINT_KEY]);
  const pool = world.pools.get('web') ?? assert.fail('the pool is gone');
  world.apply({ ...pool, spec: { ...pool.spec, deletionPolicy: 'Retain' } });
  world.remove('web');
  return { world, deps };
}

/** Why marks remain on a group although no call that removes them is denied, how that is caused, and the message. */
type Stuck = [string, (world: FakeWorld, deps: Deps) => void, string];

/** What remains when a call is denied. */
const marks: Readonly<Record<string, string>> = {
  UpdateNodegroupConfig: "keeps the operator's labels and taints",
  DeleteTags: 'keeps the tags for the cluster-autoscaler on its Auto Scaling group',
  UntagResource: 'keeps its winpool.dev tags',
};

const OTHER_BUILD = { 'node.kubernetes.io/windows-build': '10.0.26100' };

/** The keys of the operator's taints on nodes. */
function ownTaints(world: FakeWorld): string[] {
  return world.nodes.flatMap(({ taints }) => taints.map(({ key }) => key)).filter((key) => key !== 'os');
}

describe('a deleted pool that retains its group', () => {
  it('removes labels and taints, waits for EKS, and then removes tags, the owner of the RuntimeClass and its finalizer', async () => {
    const { world, deps } = await worldOfDeletedPool();
    world.calls.splice(0);
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(
      world.calls.filter((call) => !/^(read|write|Describe)/.test(call)),
      ['UpdateNodegroupConfig', 'DeleteTags', 'UntagResource', 'remove owner of RuntimeClass', 'remove finalizer'],
    );
    assert.deepEqual(rest(world), LEFT);
    assert.deepEqual(
      [...world.runtimeClasses.values()].map(({ name, owners }) => [name, owners]),
      [['windows-2022', []]],
    );
    assertBriefs(
      world.events.map(({ reason, message }) => `${reason}: ${message}`),
      [
        ['NodeGroupUpdated', 'web', 'winpool.dev/pool', 'winpool.dev/windows-build'],
        ['Retained', 'web', 'UPDATING'],
        ['TagsCorrected', 'web', 'winpool.dev/pool', 'winpool.dev/created-from'],
        ['RuntimeClassReleased', 'windows-2022'],
      ],
    );
  });

  it('keeps its finalizer while a single answer of EKS shows the group without tags', async () => {
    const { world, deps } = await worldOfDeletedPool();
    const { nodegroup } = world.cloud.state.groups.get('web') ?? assert.fail('the group is gone');
    const { tags } = nodegroup;
    world.now = deps.readCache.dueAt('web');
    nodegroup.tags = {};
    await wake(world, deps);
    nodegroup.tags = tags;
    assert.deepEqual(world.pools.get('web')?.metadata.finalizers, [FINALIZER]);
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(rest(world), LEFT);
  });

  it('can be recreated, and does not change the retained group', async () => {
    const { world, deps } = await worldOfDeletedPool();
    await until(world, deps, isGone(world), 'the deletion');
    const before = rest(world);
    world.apply(fresh(spec));
    await wake(world, deps);
    const finding = world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'NodeGroupReady');
    assert.deepEqual([finding?.reason, rest(world)], ['NotOwned', before]);
  });

  for (const when of ['before', 'after'] as const) {
    it(`has the same result after a crash ${when} each of its calls`, async () => {
      const recording = await worldOfDeletedPool();
      recording.world.calls.splice(0);
      await until(recording.world, recording.deps, isGone(recording.world), 'the deletion');
      for (const [at, call] of recording.world.calls.entries()) {
        const { world, deps } = await worldOfDeletedPool();
        world.calls.splice(0);
        world.crash = { at, when };
        await assert.rejects(until(world, deps, isGone(world), 'the deletion'), Crash, call);
        world.crash = undefined;
        await until(world, world.start(), isGone(world), `the deletion after a crash ${when} ${call}`);
        assert.deepEqual(rest(world), LEFT, `${when} ${call}`);
      }
    });
  }

  it('removes the gate taint from the group, then the taints of the nodes, then the tags', async () => {
    const { world, deps } = await gatedWorld();
    world.calls.splice(0);
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(
      world.calls.filter((call) => !/^(read|write|Describe)/.test(call)),
      [
        'UpdateNodegroupConfig',
        'taint node',
        'DeleteTags',
        'UntagResource',
        'remove owner of RuntimeClass',
        'remove finalizer',
      ],
    );
    assert.deepEqual([ownTaints(world), rest(world).taints], [[], LEFT.taints]);
  });

  it('leaves no taint after a crash before each of its calls', async () => {
    const recording = await gatedWorld();
    recording.world.calls.splice(0);
    await until(recording.world, recording.deps, isGone(recording.world), 'the deletion');
    for (const [at, call] of recording.world.calls.entries()) {
      const { world, deps } = await gatedWorld();
      world.calls.splice(0);
      world.crash = { at, when: 'before' };
      await assert.rejects(until(world, deps, isGone(world), 'the deletion'), Crash, call);
      world.crash = undefined;
      await until(world, world.start(), isGone(world), `the deletion after a crash before ${call}`);
      assert.deepEqual([ownTaints(world), rest(world).taints], [[], LEFT.taints], call);
    }
  });

  it('keeps its tags while a node cannot be written, and is deleted when that is denied', async () => {
    const { world, deps } = await gatedWorld();
    world.fails = (call) => (call === 'taint node' ? sampleError('unavailable') : undefined);
    for (let i = 0; i < 5; i++) {
      await wake(world, deps);
      world.now += 30_000;
    }
    assert.equal(rest(world).tags['winpool.dev/pool'], 'web');
    world.fails = (call) => (call === 'taint node' ? sampleError('denied') : undefined);
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(
      world.events.filter(({ reason }) => reason === 'CleanupIncomplete').map(({ message }) => message),
      [
        'Node group web has 1 node with taints of the operator: taint node failed: the call was denied. Remove them manually.',
      ],
    );
  });

  for (const [what, how, why] of [
    [
      'an update that failed',
      (world) => {
        world.cloud.faults.updateFailure({ errors: [{ errorCode: 'Unknown', errorMessage: 'Try again.' }] });
      },
      "keeps the operator's labels and taints: update ID did not remove them.",
    ],
    [
      'a group that stays DEGRADED',
      (world) => {
        world.cloud.faults.healthIssue({ group: 'web', issues: [{ code: 'AsgInstanceLaunchFailures' }] });
        world.now = Date.parse('2026-03-01T13:10:00Z');
      },
      "keeps the operator's labels and taints: it is DEGRADED.",
    ],
    ...['DescribeNodegroup', 'DescribeCluster'].map(
      (call): Stuck => [
        `a denied ${call}`,
        (world, deps) => {
          // The cluster is cached until then.
          world.now = deps.readCache.dueAt('web');
          world.fails = (now) => (now === call ? sampleError('denied') : undefined);
        },
        `${call} failed: the call was denied.`,
      ],
    ),
  ] satisfies Stuck[]) {
    it(`reports what remains after ${what}`, async () => {
      const { world, deps } = await worldOfDeletedPool();
      how(world, deps);
      await until(world, deps, isGone(world), 'the deletion');
      const updates = [...world.updates.keys()];
      assertBriefs(
        // The error of a read is an event, too.
        world.events
          .filter(({ type, reason }) => type === 'Warning' && reason !== 'AccessDenied')
          .map(({ reason, message }) => `${reason}: ${message}`),
        [['CleanupIncomplete', 'web', why.replace('ID', updates.at(-1) ?? '')]],
      );
      assert.equal(rest(world).labels['winpool.dev/pool'], 'web');
    });
  }

  it('reports nothing when the group is gone, or is not managed by the pool', async () => {
    for (const isDeleted of [true, false]) {
      const { world, deps } = await worldOfDeletedPool();
      if (isDeleted) world.cloud.faults.consoleDelete({ group: 'web' });
      else world.cloud.faults.edit({ group: 'web', tags: {} });
      world.now += 2_000;
      assert.equal(world.groups.has('web'), !isDeleted);
      await until(world, deps, isGone(world), 'the deletion');
      assert.deepEqual(
        world.events.filter(({ type }) => type === 'Warning'),
        [],
      );
    }
  });

  for (const call of ['UpdateNodegroupConfig', 'DeleteTags', 'UntagResource']) {
    it(`is deleted when ${call} is denied, and reports what remains`, async () => {
      const { world, deps } = await worldOfDeletedPool();
      world.fails = (now) => (now === call ? sampleError('denied') : undefined);
      await until(world, deps, isGone(world), 'the deletion');
      assertBriefs(
        // The error of a read is an event, too.
        world.events
          .filter(({ type, reason }) => type === 'Warning' && reason !== 'AccessDenied')
          .map(({ reason, message }) => `${reason}: ${message}`),
        [['CleanupIncomplete', `web ${marks[call]}`, call, 'the call was denied']],
      );
    });

    it(`is not deleted while ${call} is throttled, whatever triggers it`, async () => {
      const { world, deps } = await worldOfDeletedPool();
      world.fails = (now) => (now === call ? sampleError('throttled') : undefined);
      for (let i = 0; i < 5; i++) {
        await wake(world, deps);
        await reconcile('web', deps, signal);
        world.now += 30_000;
      }
      assertBrief(conditionOf(world, 'Ready'), 'False Retained', 'web', call, 'the call was throttled');
      world.fails = () => undefined;
      await until(world, deps, isGone(world), 'the deletion');
      assert.deepEqual(rest(world), LEFT);
    });
  }
});
