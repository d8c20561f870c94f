import assert from 'node:assert/strict';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../../labels.ts';
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { type Deps, reconcile } from '../../reconcile.ts';
import { Crash, type FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError } from '../../testing/fixtures.ts';
import { conditionOf, fresh, readyWorld, signal, until, wake } from '../../testing/life.ts';

const spec = { deletionPolicy: 'Retain', labels: { team: 'web' } } as const;
const isGone = (world: FakeWorld) => () => world.pools.size === 0;

/** What is left of the group that the pool leaves. */
function rest(world: FakeWorld) {
  const { status, labels, taints, tags } = world.groups.get('web') ?? assert.fail('the group is gone');
  return { status, labels, taints, tags, scalingTags: world.scalingTags() };
}

const LEFT = {
  status: 'ACTIVE',
  labels: { team: 'web' },
  taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
  tags: { cost: '42' },
  // The size of the disk is true as long as the group lives, and may be the user's by now.
  scalingTags: { 'k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage': '50Gi' },
};

async function leavingWorld() {
  const { nodeGroup } = fresh().spec;
  const made = await readyWorld({ ...spec, nodeGroup: { ...nodeGroup, tags: { cost: '42' } } });
  made.world.remove('web');
  return made;
}

/** A pool at whose gate a node waits that is not verified, beside a node in quarantine. */
async function gatedWorld() {
  const gate = { policy: 'Gate' } as const;
  const { world, deps } = await readyWorld({ verification: gate, scaling: { min: 1, max: 5, desired: 3 } });
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

/** What keeps marks on a group without a call that takes them being denied, how that comes, and what is told. */
type Stuck = [string, (world: FakeWorld, deps: Deps) => void, string];

/** What is told to stay where a call is denied. */
const marks: Readonly<Record<string, string>> = {
  UpdateNodegroupConfig: 'keeps its labels and taints of the operator',
  DeleteTags: "has the cluster-autoscaler's tags left on its scaling group",
  UntagResource: 'keeps its winpool.dev tags',
};

const OTHER_BUILD = { 'node.kubernetes.io/windows-build': '10.0.26100' };

/** The keys of the operator's taints on nodes. */
function ownTaints(world: FakeWorld): string[] {
  return world.nodes.flatMap(({ taints }) => taints.map(({ key }) => key)).filter((key) => key !== 'os');
}

describe('a pool that leaves its group', () => {
  it('takes labels and taints away, waits for EKS, then the tags, the RuntimeClass’ owner and itself', async () => {
    const { world, deps } = await leavingWorld();
    world.calls.splice(0);
    await until(world, deps, isGone(world), 'the end');
    assert.deepEqual(
      world.calls.filter((call) => !/^(read|write|Describe)/.test(call)),
      ['UpdateNodegroupConfig', 'DeleteTags', 'UntagResource', 'remove owner of RuntimeClass', 'remove finalizer'],
    );
    assert.deepEqual(rest(world), LEFT);
    assert.deepEqual(
      [...world.runtimeClasses.values()].map(({ name, owners }) => [name, owners]),
      [['windows-2022', []]],
    );
    assert.deepEqual(
      world.events.map(({ reason, message }) => `${reason} ${message}`),
      [
        'NodeGroupUpdated update node group web: labels remove winpool.dev/pool, winpool.dev/windows-build',
        'Retained Node group web stays. The labels and tags of the operator are taken from it first, when it is no longer UPDATING.',
        'TagsCorrected correct the tags of node group web: remove winpool.dev/pool, winpool.dev/created-from',
        'RuntimeClassReleased give up ownership of RuntimeClass windows-2022',
      ],
    );
  });

  it('can be made anew under its name, and keeps away from the group that it left', async () => {
    const { world, deps } = await leavingWorld();
    await until(world, deps, isGone(world), 'the end');
    const before = rest(world);
    world.apply(fresh(spec));
    await wake(world, deps);
    const finding = world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'NodeGroupReady');
    assert.deepEqual([finding?.reason, rest(world)], ['NotOwned', before]);
  });

  for (const when of ['before', 'after'] as const) {
    it(`ends the same, killed ${when} each of its calls`, async () => {
      const rehearsal = await leavingWorld();
      rehearsal.world.calls.splice(0);
      await until(rehearsal.world, rehearsal.deps, isGone(rehearsal.world), 'the end');
      for (const [at, call] of rehearsal.world.calls.entries()) {
        const { world, deps } = await leavingWorld();
        world.calls.splice(0);
        world.crash = { at, when };
        await assert.rejects(until(world, deps, isGone(world), 'the end'), Crash, call);
        world.crash = undefined;
        await until(world, world.start(), isGone(world), `the end after a crash ${when} ${call}`);
        assert.deepEqual(rest(world), LEFT, `${when} ${call}`);
      }
    });
  }

  it('takes the gate from the group, then its taints from the nodes, then the tags', async () => {
    const { world, deps } = await gatedWorld();
    world.calls.splice(0);
    await until(world, deps, isGone(world), 'the end');
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

  it('leaves no taint behind, killed before each of its calls', async () => {
    const rehearsal = await gatedWorld();
    rehearsal.world.calls.splice(0);
    await until(rehearsal.world, rehearsal.deps, isGone(rehearsal.world), 'the end');
    for (const [at, call] of rehearsal.world.calls.entries()) {
      const { world, deps } = await gatedWorld();
      world.calls.splice(0);
      world.crash = { at, when: 'before' };
      await assert.rejects(until(world, deps, isGone(world), 'the end'), Crash, call);
      world.crash = undefined;
      await until(world, world.start(), isGone(world), `the end after a crash before ${call}`);
      assert.deepEqual([ownTaints(world), rest(world).taints], [[], LEFT.taints], call);
    }
  });

  it('keeps its tags while a node cannot be written, and goes when that is denied', async () => {
    const { world, deps } = await gatedWorld();
    world.fails = (call) => (call === 'taint node' ? sampleError('unavailable') : undefined);
    for (let i = 0; i < 5; i++) {
      await wake(world, deps);
      world.now += 30_000;
    }
    assert.equal(rest(world).tags['winpool.dev/pool'], 'web');
    world.fails = (call) => (call === 'taint node' ? sampleError('denied') : undefined);
    await until(world, deps, isGone(world), 'the end');
    assert.deepEqual(
      world.events.filter(({ reason }) => reason === 'MarksLeft').map(({ message }) => message),
      [
        'Node group web has 1 node left with taints of the operator: taint node failed: the call was denied. Remove them yourself.',
      ],
    );
  });

  for (const [what, how, why] of [
    [
      'an update that EKS could not carry out',
      (world) => {
        world.cloud.faults.updateFailure({ errors: [{ errorCode: 'Unknown', errorMessage: 'Try again.' }] });
      },
      'keeps its labels and taints of the operator: update ID did not take them.',
    ],
    [
      'a group that stays DEGRADED',
      (world) => {
        world.cloud.faults.healthIssue({ group: 'web', issues: [{ code: 'AsgInstanceLaunchFailures' }] });
        world.now = Date.parse('2026-03-01T13:10:00Z');
      },
      'keeps its labels and taints of the operator: it is DEGRADED.',
    ],
    ...['DescribeNodegroup', 'DescribeCluster'].map(
      (call): Stuck => [
        `${call} that is denied`,
        (world, deps) => {
          // What was seen of the cluster is trusted for a while.
          world.now = deps.awsCache.dueAt('web');
          world.fails = (now) => (now === call ? sampleError('denied') : undefined);
        },
        `and its nodes keep labels, taints and tags of the operator: ${call} failed: the call was denied.`,
      ],
    ),
  ] satisfies Stuck[]) {
    it(`tells what it left behind for ${what}`, async () => {
      const { world, deps } = await leavingWorld();
      how(world, deps);
      await until(world, deps, isGone(world), 'the end');
      const updates = [...world.updates.keys()];
      assert.deepEqual(
        world.events.filter(({ reason }) => reason === 'MarksLeft').map(({ message }) => message),
        [`Node group web ${why.replace('ID', updates.at(-1) ?? '')} Remove them yourself.`],
      );
      assert.equal(rest(world).labels['winpool.dev/pool'], 'web');
    });
  }

  it('tells of no marks where the group is gone, or was never the pool’s', async () => {
    for (const isDeleted of [true, false]) {
      const { world, deps } = await leavingWorld();
      if (isDeleted) world.cloud.faults.consoleDelete({ group: 'web' });
      else world.cloud.faults.edit({ group: 'web', tags: {} });
      world.now += 2_000;
      assert.equal(world.groups.has('web'), !isDeleted);
      await until(world, deps, isGone(world), 'the end');
      assert.deepEqual(
        world.events.filter(({ type }) => type === 'Warning'),
        [],
      );
    }
  });

  for (const call of ['UpdateNodegroupConfig', 'DeleteTags', 'UntagResource']) {
    it(`goes when ${call} is denied, and tells what it left behind`, async () => {
      const { world, deps } = await leavingWorld();
      world.fails = (now) => (now === call ? sampleError('denied') : undefined);
      await until(world, deps, isGone(world), 'the end');
      assert.deepEqual(
        world.events.filter(({ type }) => type === 'Warning').map(({ reason, message }) => [reason, message]),
        [['MarksLeft', `Node group web ${marks[call]}: ${call} failed: the call was denied. Remove them yourself.`]],
      );
    });

    it(`stays while ${call} is throttled, whatever wakes it meanwhile`, async () => {
      const { world, deps } = await leavingWorld();
      world.fails = (now) => (now === call ? sampleError('throttled') : undefined);
      for (let i = 0; i < 5; i++) {
        await wake(world, deps);
        await reconcile('web', deps, signal);
        world.now += 30_000;
      }
      assert.equal(
        conditionOf(world, 'Ready'),
        `False Retained: Node group web stays. The labels and tags of the operator are taken from it first: ${call} failed: the call was throttled. It is tried again.`,
      );
      world.fails = () => undefined;
      await until(world, deps, isGone(world), 'the end');
      assert.deepEqual(rest(world), LEFT);
    });
  }
});
