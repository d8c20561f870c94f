/** An update that is tried on a canary first, from its first call to its last. */

import assert from 'node:assert/strict';
import type { StateOptions } from '../../test/fakes/localaws/state.ts';
import { releaseFailuresOf } from './providers/nodeGroup/versions/releaseFailures.ts';
import { type Deps, reconcile } from './reconcile.ts';
import type { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, NEXT, RELEASE, type SpecChange, SUBNETS, sampleError } from './testing/fixtures.ts';
import { assertBrief, assertBriefs, assertMentions } from './testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  isReplaced,
  nodesIn,
  openFailure,
  pendingIn,
  ready,
  readyWorld,
  retry,
  signal,
  stateOf,
  until,
} from './testing/life.ts';
import { pass } from './testing/nodeLife.ts';
import { HASHED } from './testing/replacementScenes.ts';
import { AUTOMATIC } from './testing/upgradeScenes.ts';

/** The release after the next one. */
const LATEST = '1.36-2026.04.14';
const AFTER_MS = 30 * MINUTE;
const MANUAL = { policy: 'Manual', force: false } as const;
const CANARY = { nodes: 2, soakDuration: '30m' } as const;

/** A pool whose updates have a canary, while EKS offers the next release. */
async function poolWith(
  update: SpecChange['nodeGroup'] = {},
  spec: SpecChange = {},
  options: Partial<StateOptions> = {},
): Promise<{ world: FakeWorld; deps: Deps }> {
  const nodeGroup = { update: { ...MANUAL, canary: CANARY }, ...update };
  const { world, deps } = await readyWorld(
    { ...spec, nodeGroup: { ...nodeGroup, ...spec.nodeGroup } as never },
    options,
  );
  world.pods = [];
  world.publish(NEXT);
  return { world, deps };
}

function edit(world: FakeWorld, nodeGroup: object, spec: object = {}): void {
  const pool = world.pools.get('web') ?? assert.fail();
  world.apply({
    ...pool,
    spec: { ...pool.spec, ...spec, nodeGroup: { ...pool.spec.nodeGroup, ...nodeGroup } as never },
  });
}

const pin = (world: FakeWorld) => edit(world, { releaseVersion: NEXT });
const canaryOf = (world: FakeWorld) => stateOf(world)?.canary;
const isVerified = (world: FakeWorld) => () => canaryOf(world)?.phase === 'Soaking';
const releaseOf = (world: FakeWorld, group = 'web') => world.groups.get(group)?.releaseVersion;
const isDone = (world: FakeWorld) => () =>
  canaryOf(world) === undefined && conditionOf(world, 'UpToDate')?.startsWith('True') === true;
const hasFailed = (world: FakeWorld) => () =>
  canaryOf(world) === undefined && conditionOf(world, 'UpToDate')?.startsWith('False CanaryFailed') === true;
const changesOf = (calls: readonly string[]) => calls.filter((call) => /^(Create|Update|Delete)Nodegroup/.test(call));

describe('an update with a canary', () => {
  it('is made when the nodes of the canary have been verified for long enough, and the canary is drained and deleted', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    const verified = world.now;
    assert.deepEqual([releaseOf(world), releaseOf(world, HASHED)], [RELEASE, NEXT]);
    assert.deepEqual(world.groups.get(HASHED)?.scaling, { minSize: 2, maxSize: 2, desiredSize: 2 });
    assert.deepEqual(world.groups.get(HASHED)?.labels, world.groups.get('web')?.labels);
    assertBrief(conditionOf(world, 'UpToDate'), 'False CanaryRunning', 'web-', '1.36-2026.03.17');
    const { nodes } = world.pools.get('web')?.status ?? {};
    assert.deepEqual([nodes?.desired, nodes?.total, nodes?.verified], [5, 5, 5]);
    await until(world, deps, () => releaseOf(world) === NEXT, 'an updated group');
    assert.ok(world.now - verified >= AFTER_MS - 1_000, `after ${(world.now - verified) / MINUTE} minutes`);
    assert.ok(world.now - verified < AFTER_MS + 5 * MINUTE, `after ${(world.now - verified) / MINUTE} minutes`);
    await until(world, deps, isDone(world), 'the main group alone');
    assert.deepEqual([[...world.groups.keys()], world.nodes.length], [['web'], 3]);
    assert.deepEqual(changesOf(world.awsCalls()), [
      'CreateNodegroup',
      'UpdateNodegroupVersion',
      'UpdateNodegroupConfig',
      'DeleteNodegroup',
    ]);
    assert.equal(world.ended.length, 2);
    assert.equal(ready(world), 'True');
  });

  it('costs a few calls while the canary waits', async () => {
    const { world, deps } = await poolWith({ update: { ...MANUAL, canary: { nodes: 1, soakDuration: '24h' } } });
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    world.awsCalls();
    await pass(world, deps, 23 * 60);
    assert.equal(releaseOf(world), RELEASE);
    const calls = world.awsCalls().length;
    assert.ok(calls < 23 * 6 * 12, `${calls} calls`);
  });

  it('is automatic, too', async () => {
    const { world, deps } = await poolWith({ update: { ...AUTOMATIC.update, canary: CANARY } });
    edit(world, {}, { paused: false });
    await until(world, deps, isVerified(world), 'a verified canary');
    assert.equal(releaseOf(world), RELEASE);
    await until(world, deps, () => releaseOf(world) === NEXT, 'an updated group');
    await until(world, deps, isDone(world), 'the main group alone');
    assert.deepEqual([...world.groups.keys()], ['web']);
  });

  it('is not made when a node of the canary fails; the canary is deleted and the release is not tried again until it is requested', async () => {
    const { world, deps } = await poolWith();
    const before = world.groups.get('web');
    world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
    pin(world);
    await until(world, deps, hasFailed(world), 'a failed canary');
    const message = conditionOf(world, 'UpToDate') ?? '';
    assertMentions(message, 'web-', '1.36-2026.03.17', 'ip-', 'WrongBuild');
    assert.deepEqual([...world.groups.keys()], ['web']);
    assert.deepEqual(world.groups.get('web'), before);
    const { created } = world;
    await pass(world, deps, 120);
    assert.deepEqual([world.created, releaseOf(world)], [created, RELEASE]);
    retry(world, '1');
    await until(world, deps, () => releaseOf(world) === NEXT, 'an updated group');
    await until(world, deps, isDone(world), 'the main group alone');
  });

  const causes: readonly (readonly [
    title: string,
    faults: Parameters<FakeWorld['cloud']['faults']['nextNode']>[0][],
    finding: string | undefined,
  ])[] = [
    ['its node has the wrong build', [{ build: '10.0.17763' }], 'WrongBuild: runs '],
    ['its node is not Ready', [{ notReady: true }], undefined],
  ];
  for (const [title, faults, finding] of causes)
    it(`that fails because ${title} ${finding ? 'delays' : 'does not delay'} automatic updates of other pools to its release`, async () => {
      const { world, deps } = await poolWith();
      for (const fault of faults) world.cloud.faults.nextNode({ group: HASHED, ...fault });
      pin(world);
      await until(world, deps, hasFailed(world), 'a failed canary', 200);
      const [failure, ...more] = releaseFailuresOf(world.pools.get('web') ?? assert.fail());
      assert.deepEqual(more, []);
      if (finding === undefined) {
        assert.equal(failure, undefined);
        return;
      }
      assert.deepEqual(
        [failure?.pool, failure?.kind, failure?.release, failure?.onCanary],
        ['web', 'WINDOWS_CORE_2022_x86_64', NEXT, true],
      );
      assert.ok(failure?.finding.startsWith(finding), failure?.finding);
      edit(world, { releaseVersion: undefined });
      await until(world, deps, () => openFailure(stateOf(world)) === undefined, 'a forgotten failure');
      assert.deepEqual(releaseFailuresOf(world.pools.get('web') ?? assert.fail()), []);
    });

  const failures: readonly (readonly [title: string, prepare: (world: FakeWorld) => void, message: RegExp])[] = [
    [
      'EKS rejects the canary',
      (world) => {
        world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused', { message: 'no' }) : undefined);
      },
      /failed: CreateNodegroup failed: no\. Node group web was not updated\./,
    ],
    [
      'EKS cannot create it',
      (world) => {
        const issues = [{ code: 'AsgInstanceLaunchFailures' as const, message: 'no capacity', resourceIds: [] }];
        world.cloud.faults.createFailure({ group: HASHED, issues });
      },
      /failed: EKS could not create it: AsgInstanceLaunchFailures: no capacity\./,
    ],
    [
      'a node of it does not join',
      (world) => world.cloud.faults.nextNode({ group: HASHED, neverJoins: true }),
      /failed: (1 of 2 nodes verified after 15 minutes|EKS could not create it)/,
    ],
    [
      'a node of it is not Ready for longer than the join grace',
      (world) => {
        world.cloud.faults.nextNode({ group: HASHED, notReady: true });
      },
      /failed: (1 of 2 nodes verified after 15 minutes|EKS could not create it)/,
    ],
  ];
  for (const [title, prepare, message] of failures) {
    it(`is not made when ${title}`, async () => {
      const { world, deps } = await poolWith();
      prepare(world);
      pin(world);
      const isKnown = () => conditionOf(world, 'UpToDate')?.startsWith('False CanaryFailed') === true;
      await until(world, deps, isKnown, 'a failed canary');
      assert.match(conditionOf(world, 'UpToDate') ?? '', message);
      await pass(world, deps, 60);
      assert.deepEqual([[...world.groups.keys()], releaseOf(world), canaryOf(world)], [['web'], RELEASE, undefined]);
      assert.equal(ready(world), 'True');
    });
  }

  it('is not made when another client has created a node group with the name of the canary, which is left alone', async () => {
    const { world, deps } = await poolWith();
    const arn = `${world.groups.get('web')?.arn}x`;
    world.makeGroup({ ...(world.groups.get('web') ?? assert.fail()), name: HASHED, arn, tags: {} });
    const foreign = world.groups.get(HASHED);
    pin(world);
    await pass(world, deps, 10);
    assertBrief(conditionOf(world, 'UpToDate'), 'False CanaryFailed', 'web');
    assert.equal(ready(world), 'True');
    const known = world.calls.length;
    await pass(world, deps, 60);
    assert.ok(world.calls.length - known < 200, `${world.calls.length - known} calls`);
    assert.deepEqual([world.groups.get(HASHED), canaryOf(world)], [foreign, undefined]);
    world.cloud.faults.consoleDelete({ group: HASHED });
    await pass(world, deps, 10);
    retry(world, '1');
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual([[...world.groups.keys()], releaseOf(world)], [['web'], NEXT]);
  });

  it('is not tried again after a newer release was withdrawn, if its canary had failed', async () => {
    const { world, deps } = await poolWith({ update: { ...AUTOMATIC.update, canary: CANARY } });
    world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
    await until(world, deps, hasFailed(world), 'a failed canary', 200);
    world.publish(LATEST);
    await until(world, deps, isVerified(world), 'a verified canary of the newer release', 200);
    const { releases } = world.cloud.state;
    releases.splice(
      releases.findIndex(({ date }) => date === '2026.04.14'),
      1,
    );
    await until(world, deps, hasFailed(world), 'the failure again', 200);
    const { created } = world;
    await pass(world, deps, 120);
    assert.deepEqual([world.created, releaseOf(world)], [created, RELEASE]);
  });

  it('asks again for the canary of a release that EKS does not offer yet', async () => {
    const { world, deps } = await poolWith({ update: { ...AUTOMATIC.update, canary: CANARY } });
    await until(world, deps, () => releaseOf(world) === NEXT, 'an updated group');
    await until(world, deps, isDone(world), 'the main group alone');
    const offer = world.publish(LATEST, { isOffered: false });
    await pass(world, deps, 60);
    assertBrief(conditionOf(world, 'UpToDate'), 'False ReleaseNotOffered', 'CreateNodegroup', '--resync-interval');
    assert.equal(ready(world), 'True');
    for (let run = 0; run < 10; run++) {
      const next = await reconcile('web', deps, signal);
      world.now += next.kind === 'requeueAfter' ? next.ms : 1_000;
      if (!world.awsCalls().includes('CreateNodegroup')) continue;
      assertBrief(conditionOf(world, 'UpToDate'), 'False ReleaseNotOffered', 'CreateNodegroup', '--resync-interval');
    }
    world.awsCalls();
    await pass(world, deps, 60);
    const calls = world.awsCalls();
    assert.ok(calls.length < 250, `${calls.length} calls`);
    assert.ok(calls.filter((call) => call === 'CreateNodegroup').length <= 8);
    offer();
    await until(world, deps, () => releaseOf(world) === LATEST, 'the newest release', 200);
    await until(world, deps, isDone(world), 'the main group alone');
  });

  it('fails with the health issue of a canary that stays DEGRADED', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    const issues = [{ code: 'Ec2SecurityGroupNotFound', message: 'no sg-1', resourceIds: [] }];
    world.cloud.faults.healthIssue({ group: HASHED, issues } as never);
    await until(world, deps, hasFailed(world), 'a failed canary', 200);
    assertMentions(conditionOf(world, 'UpToDate'), 'DEGRADED', 'Ec2SecurityGroupNotFound', 'sg-1', 'web');
  });

  it('shows why EKS does not delete the canary, and when it is tried again', async () => {
    const { world, deps } = await poolWith();
    const issues = [{ code: 'Ec2SecurityGroupDeletionFailure', message: 'sg-1 is in use', resourceIds: [] }];
    world.cloud.faults.deleteFailure({ group: HASHED, issues } as never);
    pin(world);
    await until(world, deps, () => canaryOf(world)?.status === 'DELETE_FAILED', 'a failed deletion', 200);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False CanaryRunning',
      'web-',
      'Ec2SecurityGroupDeletionFailure',
      'sg-1',
    );
    await until(world, deps, isDone(world), 'the main group alone', 200);
  });

  it('waits again when a node of the canary restarts', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    await pass(world, deps, 20);
    const [node = assert.fail()] = nodesIn(world, HASHED);
    world.cloud.faults.nodeReady({ node: node.name, ready: false });
    await pass(world, deps, 1);
    assert.notEqual(canaryOf(world)?.phase, 'Soaking');
    world.cloud.faults.nodeReady({ node: node.name, ready: true });
    await pass(world, deps, 25);
    assert.equal(releaseOf(world), RELEASE);
    await until(world, deps, () => releaseOf(world) === NEXT, 'an updated group');
  });

  it('fails when a node of the canary fails after it was verified', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    await pass(world, deps, 20);
    const [node = assert.fail()] = nodesIn(world, HASHED);
    world.cloud.faults.patchKernel({ node: node.name, build: '10.0.17763' });
    await until(world, deps, hasFailed(world), 'a failed canary');
    assert.deepEqual([[...world.groups.keys()], releaseOf(world)], [['web'], RELEASE]);
  });

  const stages: readonly (readonly [stage: string, isThere: (world: FakeWorld) => boolean])[] = [
    ['begins', (world) => canaryOf(world) !== undefined],
    ['is verified', (world) => canaryOf(world)?.phase === 'Soaking'],
    ['is drained', (world) => canaryOf(world)?.phase === 'Draining'],
  ];
  for (const [stage, isThere] of stages) {
    it(`leaves the main group alone when the spec goes back as the canary ${stage}`, async () => {
      const { world, deps } = await poolWith({ update: { ...MANUAL, canary: { nodes: 1, soakDuration: '30m' } } });
      const before = world.groups.get('web');
      pin(world);
      if (stage === 'is drained') world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
      await until(world, deps, () => isThere(world), `a canary that ${stage}`);
      edit(world, { releaseVersion: undefined });
      await until(world, deps, () => canaryOf(world) === undefined, 'a deleted canary');
      assert.deepEqual([[...world.groups.values()], world.nodes.length], [[before], 3]);
    });

    it(`ends with the newer release when it appears as the canary ${stage}`, async () => {
      const { world, deps } = await poolWith({
        update: { ...AUTOMATIC.update, canary: { nodes: 1, soakDuration: '30m' } },
      });
      if (stage === 'is drained') world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
      await until(world, deps, () => isThere(world), `a canary that ${stage}`);
      world.publish(LATEST);
      await until(world, deps, () => releaseOf(world) === LATEST, 'the newest release', 300);
      await until(world, deps, () => canaryOf(world) === undefined, 'a deleted canary');
      assert.deepEqual([...world.groups.keys()], ['web']);
      assert.equal(ready(world), 'True');
    });

    it(`leaves nothing when the pool is deleted as the canary ${stage}`, async () => {
      const { world, deps } = await poolWith({ update: { ...MANUAL, canary: { nodes: 1, soakDuration: '30m' } } });
      pin(world);
      if (stage === 'is drained') world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
      await until(world, deps, () => isThere(world), `a canary that ${stage}`);
      world.remove('web');
      await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
      assert.deepEqual([...world.groups.keys()], []);
    });

    it(`releases both groups when the pool is deleted and retained as the canary ${stage}`, async () => {
      const { world, deps } = await poolWith({ update: { ...MANUAL, canary: { nodes: 1, soakDuration: '30m' } } });
      pin(world);
      if (stage === 'is drained') world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
      await until(world, deps, () => isThere(world), `a canary that ${stage}`);
      edit(world, {}, { deletionPolicy: 'Retain' });
      world.remove('web');
      await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
      assert.deepEqual(
        [...world.groups.values()].flatMap(({ tags }) => Object.keys(tags)),
        [],
      );
    });

    for (const isRestarted of [false, true]) {
      it(`goes on when the status is lost as the canary ${stage}, and the operator ${isRestarted ? 'was restarted' : 'still runs'}`, async () => {
        const { world, deps } = await poolWith({ update: { ...MANUAL, canary: { nodes: 1, soakDuration: '30m' } } });
        pin(world);
        if (stage === 'is drained') world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
        await until(world, deps, () => isThere(world), `a canary that ${stage}`);
        const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
        world.pools.set('web', pool);
        const now = isRestarted ? world.start() : deps;
        const isOver = () => (stage === 'is drained' ? hasFailed(world) : isDone(world))();
        await until(world, now, isOver, 'the main group alone', 200);
        assert.deepEqual([...world.groups.keys()], ['web']);
        assert.equal(releaseOf(world), stage === 'is drained' ? RELEASE : NEXT);
      });
    }
  }

  const losses: readonly (readonly [
    when: string,
    change: (world: FakeWorld) => void,
    undo: (world: FakeWorld) => void,
  ])[] = [
    [
      'while the pool is paused',
      (world) => edit(world, {}, { paused: true }),
      (world) => edit(world, {}, { paused: false }),
    ],
    [
      'while EKS cannot be reached',
      (world) => {
        world.fails = (call) => (call === 'DescribeNodegroup' ? sampleError('unavailable') : undefined);
      },
      (world) => {
        world.fails = () => undefined;
      },
    ],
    ['with the canary in the spec', (world) => edit(world, { update: MANUAL }), () => undefined],
  ];
  for (const [when, change, undo] of losses) {
    it(`leaves no canary behind when the status is lost ${when}, and the version goes back`, async () => {
      const { world, deps } = await poolWith();
      pin(world);
      await until(world, deps, isVerified(world), 'a verified canary');
      edit(world, { releaseVersion: undefined });
      change(world);
      const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', pool);
      const restarted = world.start();
      await pass(world, restarted, 2);
      undo(world);
      await pass(world, restarted, 30);
      assert.deepEqual([[...world.groups.keys()], releaseOf(world), canaryOf(world)], [['web'], RELEASE, undefined]);
      assert.deepEqual([stateOf(world)?.name, ready(world)], ['web', 'True']);
    });
  }

  it('releases a canary whose record was lost when the pool is deleted and retained', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    edit(world, {}, { deletionPolicy: 'Retain' });
    const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
    world.pools.set('web', pool);
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
    assert.deepEqual(
      [...world.groups.values()].map(({ tags }) => tags),
      [{}, {}],
    );
  });

  it('is not made because of a canary of another version whose record was lost', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    const { status, ...pool } = world.pools.get('web') ?? assert.fail();
    const { canary: _lost, ...nodeGroup } = status?.nodeGroup ?? assert.fail();
    world.pools.set('web', { ...pool, status: { ...status, nodeGroup } });
    world.publish(LATEST);
    edit(world, { releaseVersion: LATEST });
    await until(world, deps, () => releaseOf(world) === LATEST, 'an updated group', 200);
    assert.equal(releaseOf(world, HASHED), LATEST);
    await until(world, deps, isDone(world), 'the main group alone');
    assert.deepEqual([...world.groups.keys()], ['web']);
  });

  it('changes nothing while the pool is paused, and continues when it is resumed', async () => {
    const { world, deps } = await poolWith();
    edit(world, { releaseVersion: NEXT }, { paused: true });
    await pass(world, deps, 10);
    assertBriefs(pendingIn(world), [['Paused', NEXT, `canary ${HASHED}`, '2 nodes', '30m']]);
    edit(world, {}, { paused: false });
    await until(world, deps, isVerified(world), 'a verified canary');
    edit(world, {}, { paused: true });
    await pass(world, deps, 60);
    assert.equal(releaseOf(world), RELEASE);
    edit(world, {}, { paused: false });
    await until(world, deps, isDone(world), 'the main group alone');
    assert.equal(releaseOf(world), NEXT);
  });

  it('is made at once, after the canary is gone, when the spec drops the canary', async () => {
    const { world, deps } = await poolWith();
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    edit(world, { update: MANUAL });
    await until(world, deps, isDone(world), 'the main group alone');
    assert.deepEqual([[...world.groups.keys()], releaseOf(world)], [['web'], NEXT]);
  });

  it('deletes the canary when EKS fails to update the main group, and tries both again when that is requested', async () => {
    const { world, deps } = await poolWith();
    world.cloud.faults.updateFailure({
      group: 'web',
      errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'x', resourceIds: [] }],
    } as never);
    pin(world);
    const isOver = () =>
      canaryOf(world) === undefined && conditionOf(world, 'UpToDate')?.includes('UpdateFailed') === true;
    await until(world, deps, isOver, 'a failed update', 200);
    assert.deepEqual([...world.groups.keys()], ['web']);
    const { created } = world;
    retry(world, '1');
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual([world.created, releaseOf(world)], [created + 1, NEXT]);
  });

  it('waits for a replacement of the node group, whose second group has the release already', async () => {
    const { world, deps } = await poolWith({ immutableChangePolicy: 'Replace' });
    edit(world, { instanceTypes: ['m5.xlarge'], releaseVersion: NEXT });
    await until(world, deps, isReplaced(world), 'a replaced group', 200);
    assert.deepEqual([[...world.groups.keys()], releaseOf(world, HASHED)], [[HASHED], NEXT]);
    assert.equal(canaryOf(world), undefined);
    world.publish(LATEST);
    edit(world, { releaseVersion: LATEST });
    await until(world, deps, isVerified(world), 'a verified canary');
    assert.deepEqual([releaseOf(world, HASHED), releaseOf(world)], [NEXT, LATEST]);
    // The canary has the first name.
    const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
    world.pools.set('web', pool);
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual([[...world.groups.keys()], releaseOf(world, HASHED)], [[HASHED], LATEST]);
  });

  it('delays a replacement until the canary is deleted', async () => {
    const { world, deps } = await poolWith({ immutableChangePolicy: 'Replace' });
    pin(world);
    await until(world, deps, isVerified(world), 'a verified canary');
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => stateOf(world)?.replacement !== undefined, 'a replacement');
    assert.equal(canaryOf(world), undefined);
    await until(world, deps, isReplaced(world), 'a replaced group', 200);
    assert.deepEqual([[...world.groups.keys()], releaseOf(world, HASHED)], [[HASHED], NEXT]);
  });

  it('ends when the pool was scaled to zero', async () => {
    const { world, deps } = await poolWith({ scaling: { minSize: 0, maxSize: 5, desiredSize: 0 } } as never);
    pin(world);
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual([[...world.groups.keys()], releaseOf(world), world.nodes.length], [['web'], NEXT, 0]);
  });

  it('tries another version of the launch template of the operator', async () => {
    const { world, deps } = await poolWith();
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
    const disk = (sizeGiB: number) => ({ disk: { type: 'gp3', encrypted: true, sizeGiB } });
    const scaling = { minSize: 3, maxSize: 5 };
    const nodeGroup = { update: { ...MANUAL, canary: CANARY }, diskSizeGiB: undefined, ...disk(100), scaling };
    world.apply(fresh({ nodeGroup: nodeGroup as never }));
    await until(world, deps, () => ready(world) === 'True', 'a ready pool');
    edit(world, disk(200));
    await until(world, deps, isVerified(world), 'a verified canary');
    const versions = () =>
      [...world.groups.values()].map(({ name, launchTemplate }) => [name, launchTemplate?.version]);
    assert.deepEqual(versions(), [
      ['web', '1'],
      [HASHED, '2'],
    ]);
    assert.equal(canaryOf(world)?.templateVersion, '2');
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual(versions(), [['web', '2']]);
  });

  it("ends when the user's launch template is deleted, with the reason", async () => {
    const { world, deps } = await poolWith();
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
    const windows = { name: 'windows', data: { InstanceType: 'm5.large' } };
    world.cloud.faults.launchTemplate(windows);
    const unset = { diskSizeGiB: undefined, instanceTypes: undefined, releaseVersion: RELEASE };
    const nodeGroup = { ...unset, update: { ...MANUAL, canary: CANARY }, scaling: { minSize: 3, maxSize: 5 } };
    world.apply(fresh({ nodeGroup: { ...nodeGroup, launchTemplate: { name: 'windows', version: 1 } } as never }));
    await until(world, deps, () => ready(world) === 'True', 'a ready pool');
    world.cloud.faults.launchTemplate(windows);
    edit(world, { launchTemplate: { name: 'windows', version: 2 } });
    await until(world, deps, isVerified(world), 'a verified canary');
    world.cloud.faults.launchTemplate({ name: 'windows', exists: false });
    await until(world, deps, () => canaryOf(world)?.phase === 'Draining', 'the end of the canary');
    const ended = world.events.filter(({ reason }) => reason === 'CanaryEnded').map(({ message }) => message);
    assert.equal(ended.length, 1);
    assertMentions(ended[0], `canary ${HASHED}`, '2 nodes', 'the launch template of web');
  });

  it('tries the security groups that have the tags in the spec now, if updates are automatic', async () => {
    const { world, deps } = await poolWith();
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
    const tags = { tier: 'windows' };
    world.cloud.faults.securityGroup({ id: 'sg-0a000000', tags });
    const nodeGroup = { diskSizeGiB: undefined, securityGroups: [{ tags }], scaling: { minSize: 3, maxSize: 5 } };
    world.apply(fresh({ nodeGroup: { ...nodeGroup, update: { ...AUTOMATIC.update, canary: CANARY } } as never }));
    await until(world, deps, () => ready(world) === 'True', 'a ready pool');
    world.cloud.faults.securityGroup({ id: 'sg-0b000000', tags });
    const versionOf = (group: string) => world.groups.get(group)?.launchTemplate?.version;
    await until(world, deps, isVerified(world), 'a verified canary');
    assert.deepEqual([versionOf('web'), versionOf(HASHED)], ['1', '2']);
    await until(world, deps, isDone(world), 'the main group alone', 200);
    assert.deepEqual([[...world.groups.keys()], versionOf('web')], [['web'], '2']);
  });

  describe('of a pool with a script', () => {
    const named = (key: string) => ({ configMap: 'windows', key, phase: 'BeforeBootstrap' });

    async function poolWithScript() {
      const { world, deps } = await poolWith();
      world.remove('web');
      await until(world, deps, () => !world.pools.has('web'), 'a deleted pool');
      world.scripts.set('windows', { v1: 'first', v2: 'second' });
      const scaling = { minSize: 3, maxSize: 5 };
      const update = { ...MANUAL, canary: CANARY };
      const nodeGroup = { update, diskSizeGiB: undefined, scaling, releaseVersion: RELEASE, userData: named('v1') };
      world.apply(fresh({ nodeGroup: nodeGroup as never }));
      await until(world, deps, () => ready(world) === 'True', 'a ready pool');
      return { world, deps };
    }
    const versionOf = (world: FakeWorld) => world.groups.get('web')?.launchTemplate?.version;
    const hasScript = (world: FakeWorld) => () => versionOf(world) === '2' && canaryOf(world) === undefined;

    it('ends when its ConfigMap is deleted, and begins again when it exists', async () => {
      const { world, deps } = await poolWithScript();
      edit(world, { userData: named('v2') });
      await until(world, deps, isVerified(world), 'a verified canary');
      world.scripts.delete('windows');
      retry(world, '1');
      await until(world, deps, () => canaryOf(world) === undefined, 'a deleted canary', 200);
      assert.deepEqual([[...world.groups.keys()], versionOf(world), ready(world)], [['web'], '1', 'True']);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False UserDataNotFound: /);
      world.scripts.set('windows', { v2: 'second' });
      retry(world, '2');
      await until(world, deps, isVerified(world), 'another canary', 200);
      await until(world, deps, hasScript(world), 'the script in the main group', 200);
    });

    it('goes on with another release while its ConfigMap does not exist', async () => {
      const { world, deps } = await poolWithScript();
      pin(world);
      await until(world, deps, isVerified(world), 'a verified canary');
      world.scripts.delete('windows');
      retry(world, '1');
      await until(world, deps, () => canaryOf(world) === undefined, 'a deleted canary', 200);
      assert.deepEqual([[...world.groups.keys()], releaseOf(world), versionOf(world)], [['web'], NEXT, '1']);
    });

    it('goes on when its ConfigMap cannot be read for a time', async () => {
      const { world, deps } = await poolWithScript();
      edit(world, { userData: named('v2') });
      await until(world, deps, isVerified(world), 'a verified canary');
      world.fails = (call) => (call === 'get ConfigMap of user data' ? sampleError('denied') : undefined);
      await pass(world, deps, 120);
      assert.notEqual(canaryOf(world)?.phase, 'Draining');
      world.fails = () => undefined;
      await until(world, deps, hasScript(world), 'the script in the main group', 200);
    });
  });

  it('does not begin without addresses for the canary', async () => {
    const { world, deps } = await poolWith();
    for (const id of SUBNETS) world.cloud.faults.subnet({ id, freeAddresses: 0 } as never);
    pin(world);
    await pass(world, deps, 30);
    assert.deepEqual([canaryOf(world), releaseOf(world)], [undefined, RELEASE]);
    assert.match(
      conditionOf(world, 'UpToDate') ?? '',
      /^False UpdatePending: .* Its canary is created when the prerequisites are met\./,
    );
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /lower nodeGroup\.update\.canary\.nodes from 2/);
    assert.equal(ready(world), 'True');
  });
});
