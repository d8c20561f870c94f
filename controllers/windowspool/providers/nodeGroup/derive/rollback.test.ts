import assert from 'node:assert/strict';
import type { NodeGroupState, RollbackState } from '../../../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../../api/labels.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { Deps } from '../../../reconcile.ts';
import type { FakeWorld } from '../../../testing/fakeWorld.ts';
import { MINUTE, NEXT, NOW, RELEASE, sampleCluster, sampleState, settings } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  readyWorld,
  retry,
  signal,
  stateOf,
  updatesIn,
  wake,
} from '../../../testing/life.ts';
import { HASHED, NEW, PLAIN, replacing } from '../../../testing/replacementScenes.ts';
import { AUTOMATIC, newest, pinned } from '../../../testing/upgradeScenes.ts';
import { timeOf } from '../../../util/durations.ts';
import { rollbackOf } from './rollback.ts';

const EARLIER = '1.35-2026.02.11';

describe('a rollback of a node group', () => {
  type Recorded = Partial<NodeGroupState>;
  /** What is known of a group with the release, and the newest release that would undo a rollback. */
  const found = (recorded: Recorded, releaseVersion: string, change: object = {}, group: Partial<NodeGroup> = {}) => {
    const s = sampleState({ ...pinned(AUTOMATIC, recorded, { releaseVersion, ...group }), ...newest(NEXT), ...change });
    const { record, heldRelease } = rollbackOf(s) ?? {};
    return [record?.from, heldRelease];
  };
  const from = (release: string, more: Partial<RollbackState> = {}): Recorded => ({
    rollback: { from: release, time: '2026-02-28T00:00:00Z', ...more },
  });
  /** What is recorded when the cluster has had another version for two resyncs. */
  const confirmed = { clusterChangeTime: timeOf(NOW - 2 * settings.resyncMs) };
  const daysAgo = (days: number) => ({ time: timeOf(NOW - days * 24 * 60 * MINUTE) });
  const ofCluster = (kubernetesVersion: string) => ({
    cluster: { kind: 'seen', cluster: sampleCluster({ kubernetesVersion }) },
  });
  const rows: readonly (readonly [title: string, readonly unknown[], readonly (string | undefined)[]])[] = [
    ['is one to another Kubernetes version', found({ releaseVersion: RELEASE }, EARLIER), [RELEASE, NEXT]],
    [
      'is one within a Kubernetes version, and holds back no later release',
      found({ releaseVersion: RELEASE }, '1.36-2026.01.13'),
      [RELEASE, undefined],
    ],
    [
      'within a Kubernetes version holds back the release that the group had',
      found({ releaseVersion: NEXT }, RELEASE),
      [NEXT, NEXT],
    ],
    ['is remembered', found({ releaseVersion: EARLIER, ...from(RELEASE) }, EARLIER), [RELEASE, NEXT]],
    [
      'is remembered while the newest release is unknown',
      found({ releaseVersion: EARLIER, ...from(RELEASE) }, EARLIER, { newestRelease: undefined }),
      [RELEASE, undefined],
    ],
    [
      'that continues is one from the last release',
      found({ releaseVersion: EARLIER, ...from(NEXT) }, '1.34-2026.02.11'),
      [EARLIER, NEXT],
    ],
    [
      'is over when the group has the release again',
      found({ releaseVersion: RELEASE, ...from(RELEASE) }, RELEASE),
      [undefined, undefined],
    ],
    [
      'is over when the cluster has the Kubernetes version of the group',
      found({ releaseVersion: EARLIER, ...from(RELEASE, confirmed) }, EARLIER, ofCluster('1.35')),
      [undefined, undefined],
    ],
    [
      'is over when the cluster has a newer Kubernetes version than the group had',
      found({ releaseVersion: EARLIER, ...from(RELEASE, confirmed) }, EARLIER, ofCluster('1.37')),
      [undefined, undefined],
    ],
    [
      'is not over when one answer has a newer version of the cluster',
      found({ releaseVersion: EARLIER, ...from(RELEASE) }, EARLIER, {
        ...ofCluster('1.37'),
        ...newest('1.37-2026.03.17'),
      }),
      [RELEASE, '1.37-2026.03.17'],
    ],
    [
      'is over when EKS can no longer roll the cluster back',
      found({ releaseVersion: EARLIER, ...from(RELEASE, daysAgo(7)) }, EARLIER),
      [undefined, undefined],
    ],
    [
      'is not over while EKS may roll the cluster back',
      found({ releaseVersion: EARLIER, ...from(RELEASE, daysAgo(6.9)) }, EARLIER),
      [RELEASE, NEXT],
    ],
    [
      'within a Kubernetes version depends on neither the time nor the cluster',
      found({ releaseVersion: RELEASE, ...from(NEXT, { ...daysAgo(30), ...confirmed }) }, RELEASE),
      [NEXT, NEXT],
    ],
    [
      'is not over when one answer has another version of the cluster',
      found({ releaseVersion: EARLIER, ...from(RELEASE) }, EARLIER, ofCluster('1.35')),
      [RELEASE, undefined],
    ],
    [
      'is not over when the cluster has the former version again',
      found({ releaseVersion: EARLIER, ...from(RELEASE, confirmed) }, EARLIER, ofCluster('1.36')),
      [RELEASE, NEXT],
    ],
    [
      'is not over when the answer lacks the version of the cluster',
      found({ releaseVersion: EARLIER, ...from(RELEASE, confirmed) }, EARLIER, ofCluster('')),
      [RELEASE, undefined],
    ],
    [
      'is not over when the answer lacks the release of the group',
      found({ releaseVersion: EARLIER, ...from(RELEASE) }, ''),
      [RELEASE, NEXT],
    ],
    [
      'is not over while the cluster cannot be read',
      found({ releaseVersion: EARLIER, ...from(RELEASE) }, EARLIER, { cluster: { kind: 'absent' } }),
      [RELEASE, NEXT],
    ],
    ['is not one without a record, such as after status was lost', found({}, EARLIER), [undefined, undefined]],
    [
      'is not one to another group',
      found({ releaseVersion: RELEASE, arn: 'arn:of:another' }, EARLIER),
      [undefined, undefined],
    ],
    [
      'is not one to another custom AMI',
      found({ releaseVersion: 'ami-0a000002' }, 'ami-0a000001'),
      [undefined, undefined],
    ],
    [
      'is not a record that cannot be read',
      found({ releaseVersion: EARLIER, ...from('newest') }, EARLIER),
      [undefined, undefined],
    ],
  ];
  for (const [title, is, expected] of rows) it(title, () => assert.deepEqual(is, expected));

  it('is over when the user sets the annotation after it, not one from before', () => {
    const is = (retried: string | undefined, value: string | undefined) => {
      const { pool, group } = pinned(AUTOMATIC, from(NEXT, retried === undefined ? {} : { retry: retried }), {
        releaseVersion: RELEASE,
      });
      const annotations = value === undefined ? {} : { [RETRY_ANNOTATION]: value };
      return rollbackOf(sampleState({ pool: { ...pool, metadata: { ...pool.metadata, annotations } }, group }));
    };
    assert.deepEqual([is(undefined, '1'), is('1', '2')], [undefined, undefined]);
    for (const record of [is('1', '1'), is('1', undefined)]) assert.equal(record?.record.from, NEXT);
  });
});

describe('a node group that a user rolled back', () => {
  const minor = (world: FakeWorld) => stateOf(world)?.kubernetesVersion;
  /** A pool with automatic updates, whose group another user returned to the previous Kubernetes version. */
  async function rolledBackWorld() {
    const { world, deps } = await readyWorld({ nodeGroup: AUTOMATIC });
    await hours(world, deps, 2);
    await world.cloud.send(
      'UpdateNodegroupVersion',
      { clusterName: settings.clusterName, nodegroupName: 'web', version: '1.35' },
      signal,
    );
    await hours(world, deps, 3);
    assert.deepEqual([minor(world), stateOf(world)?.rollback?.from], ['1.35', RELEASE]);
    world.awsCalls();
    return { world, deps };
  }

  it('is not updated before the cluster is, also after a restart and while the pool was paused', async () => {
    const { world, deps } = await rolledBackWorld();
    await hours(world, deps, 3);
    await hours(world, world.start(), 3);
    assert.deepEqual(updatesIn(world.awsCalls()), []);
    assertBrief(conditionOf(world, 'UpToDate'), 'False RolledBack', RELEASE, '1.35', '1.36', 'kubectl annotate');
  });

  it('follows the cluster back, and to its next upgrade', async () => {
    const { world, deps } = await rolledBackWorld();
    world.cloud.faults.cluster({ version: '1.35' });
    world.publish(NEXT);
    await hours(world, deps, 3);
    assert.deepEqual([stateOf(world)?.releaseVersion, stateOf(world)?.rollback], ['1.35-2026.03.17', undefined]);
    world.cloud.faults.upgradeCluster({ version: '1.36' });
    await hours(world, deps, 3);
    assert.deepEqual([minor(world), stateOf(world)?.rollback], ['1.36', undefined]);
  });

  it('is updated when the cluster is upgraded past the Kubernetes version that it had', async () => {
    const { world, deps } = await rolledBackWorld();
    world.cloud.faults.upgradeCluster({ version: '1.37' });
    await hours(world, deps, 3);
    assert.deepEqual([minor(world), stateOf(world)?.rollback], ['1.37', undefined]);
  });

  it('is updated when EKS can no longer roll the cluster back', async () => {
    const { world, deps } = await rolledBackWorld();
    const { time = '' } = stateOf(world)?.rollback ?? {};
    const end = timeOf(Date.parse(time) + 7 * 24 * 60 * MINUTE);
    assertBrief(conditionOf(world, 'UpToDate'), 'False RolledBack', end);
    world.now = Date.parse(end) - 10 * MINUTE;
    await hours(world, deps, 1);
    assert.deepEqual([minor(world), stateOf(world)?.rollback], ['1.36', undefined]);
  });

  type Answer = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const odd: Readonly<Record<string, readonly [operation: string, (output: Answer) => Answer]>> = {
    'no version of the cluster': [
      'DescribeCluster',
      ({ cluster }) => ({ cluster: { ...cluster, version: undefined } }),
    ],
    'an older version of the cluster': [
      'DescribeCluster',
      ({ cluster }) => ({ cluster: { ...cluster, version: '1.35' } }),
    ],
    'a newer version of the cluster': [
      'DescribeCluster',
      ({ cluster }) => ({ cluster: { ...cluster, version: '1.37' } }),
    ],
    'no release of the group': [
      'DescribeNodegroup',
      ({ nodegroup }) => ({ nodegroup: { ...nodegroup, releaseVersion: undefined } }),
    ],
  };
  for (const [what, [operation, altered]] of Object.entries(odd))
    it(`is not updated after one answer with ${what}`, async () => {
      const { world, deps } = await rolledBackWorld();
      const { releaseVersion } = stateOf(world) ?? {};
      let reads = 0;
      world.alter = (read, output) => {
        if (read !== operation || reads++ > 0) return output;
        return altered(output as Answer);
      };
      await hours(world, deps, 3);
      assert.ok(reads > 1);
      assert.deepEqual([updatesIn(world.awsCalls()), stateOf(world)?.releaseVersion], [[], releaseVersion]);
      assert.equal(stateOf(world)?.rollback?.from, RELEASE);
    });

  it('is not updated after another user removed the tag of the pool and restored it', async () => {
    const { world, deps } = await rolledBackWorld();
    const { releaseVersion } = stateOf(world) ?? {};
    const { tags = {} } = world.groups.get('web') ?? {};
    world.cloud.faults.edit({ group: 'web', tags: {} });
    await hours(world, deps, 1);
    assertBrief(conditionOf(world, 'NodeGroupReady'), 'False NotOwned');
    world.cloud.faults.edit({ group: 'web', tags });
    await hours(world, deps, 3);
    assert.deepEqual([updatesIn(world.awsCalls()), stateOf(world)?.releaseVersion], [[], releaseVersion]);
    assertBrief(conditionOf(world, 'UpToDate'), 'False RolledBack');
  });

  it('is updated when the user sets the annotation', async () => {
    const { world, deps } = await rolledBackWorld();
    retry(world, '1');
    await hours(world, deps, 3);
    assert.deepEqual([minor(world), stateOf(world)?.rollback], ['1.36', undefined]);
  });

  /** Applies another instance type, with which another group has to replace it. */
  async function changeType(world: FakeWorld, deps: Deps, pins: { readonly kubernetesVersion?: string } = {}) {
    const { spec } = fresh({ nodeGroup: { ...AUTOMATIC, ...pins, ...replacing(NEW).nodeGroup } });
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, spec });
    await hours(world, deps, 1);
  }

  it('is replaced by a new one only when the cluster has followed', async () => {
    const { world, deps } = await rolledBackWorld();
    await changeType(world, deps);
    assert.deepEqual([...world.groups.keys()], [PLAIN]);
    assertBrief(conditionOf(world, 'UpToDate'), 'False ImmutableDifference', RELEASE, '1.35', 'kubectl annotate');
    assert.equal(conditionOf(world, 'Reconciling')?.startsWith('True') ?? false, false);
    world.cloud.faults.cluster({ version: '1.35' });
    await hours(world, deps, 3);
    assert.deepEqual([...world.groups.keys()], [HASHED]);
    assert.equal(minor(world), '1.35');
  });

  it('is replaced at once by a new one with a version that the user pins', async () => {
    const { world, deps } = await rolledBackWorld();
    await changeType(world, deps, { kubernetesVersion: '1.36' });
    assert.ok(world.groups.has(HASHED));
  });

  it('gets a version that the user pins', async () => {
    const { world, deps } = await rolledBackWorld();
    const pool = world.pools.get('web');
    assert.ok(pool?.spec.nodeGroup);
    world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: { ...pool.spec.nodeGroup, releaseVersion: RELEASE } } });
    await hours(world, deps, 3);
    assert.deepEqual([minor(world), stateOf(world)?.rollback], ['1.36', undefined]);
  });

  it('is reported with the previous version pinned, and EKS that refuses it', async () => {
    const { world, deps } = await readyWorld({}, { switches: { earlierNodegroupVersions: 'reject' } });
    const pool = world.pools.get('web');
    assert.ok(pool?.spec.nodeGroup);
    world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: { ...pool.spec.nodeGroup, kubernetesVersion: '1.35' } } });
    await wake(world, deps);
    assertBrief(conditionOf(world, 'NodeGroupReady'), 'False UpdateRejected', 'rolled back');
  });
});
