import assert from 'node:assert/strict';
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { reconcile } from '../../reconcile.ts';
import { SCALING_TAGS, sampleError, sampleGroup, samplePool, sampleState, settings } from '../../testing/fixtures.ts';
import { hours, readyWorld, wake } from '../../testing/life.ts';
import { autoscalerTags, nextScalingTags, retainTagChanges, scalingTagChanges } from './autoscalerTags.ts';

const { signal } = new AbortController();
const STORAGE = 'resources/ephemeral-storage';

describe('what the cluster-autoscaler is told of a new node', () => {
  const tagsOf = (change: Partial<NodeGroup>, addresses: number | undefined = 9) =>
    Object.fromEntries(autoscalerTags(samplePool(), sampleGroup(undefined, change), addresses));

  it('is what the scheduler looks at: system, build, labels, taints, addresses', () => {
    assert.deepEqual(
      tagsOf({ labels: { team: 'web' }, taints: [GATE_TAINT, { key: 'gpu', value: 'a', effect: 'NoExecute' }] }),
      {
        'label/kubernetes.io/os': 'windows',
        'label/kubernetes.io/arch': 'amd64',
        'label/node.kubernetes.io/windows-build': '10.0.20348',
        'label/team': 'web',
        'resources/ephemeral-storage': '50Gi',
        'resources/vpc.amazonaws.com/PrivateIPv4Address': '9',
        'taint/gpu': 'a:NoExecute',
        'taint/startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate': ':NoSchedule',
      },
    );
  });

  it('has one taint for each key, the one that keeps most pods away', () => {
    const taints = (['NoExecute', 'PreferNoSchedule', 'NoSchedule'] as const).map((effect) => ({ key: 'gpu', effect }));
    assert.equal(tagsOf({ taints })['taint/gpu'], ':NoExecute');
    assert.equal(tagsOf({ taints: taints.slice(1) })['taint/gpu'], ':NoSchedule');
  });

  it('says nothing of a gate that the cluster-autoscaler does not know as one', () => {
    assert.equal(
      tagsOf({ taints: [{ key: 'winpool.dev/unverified', effect: 'NoSchedule' }] })['taint/winpool.dev/unverified'],
      undefined,
    );
  });

  it('says nothing of addresses that are not known, nor of a disk that a launch template describes', () => {
    const tags = autoscalerTags(samplePool(), sampleGroup(undefined, { diskSizeGiB: undefined }), undefined);
    assert.equal(
      [...tags.keys()].some((key) => key.startsWith('resources/')),
      false,
    );
  });

  it('has the size of the disk, so that pods which request ephemeral storage find an empty group', () => {
    assert.equal(tagsOf({ diskSizeGiB: 100 })['resources/ephemeral-storage'], '100Gi');
  });

  for (const [where, diskSizeGiB] of [
    ['a launch template describes it', undefined],
    ['the node group describes it', 50],
  ] as const) {
    it(`leaves the size of the disk that somebody tagged where ${where}, also when the pool goes`, () => {
      const key = `k8s.io/cluster-autoscaler/node-template/${STORAGE}`;
      const group = sampleGroup(undefined, { diskSizeGiB });
      const autoscaler = { tags: { 'eks-web': { ...SCALING_TAGS, [key]: '20Gi' } }, podAddresses: 9 };
      const s = sampleState({ group: { kind: 'seen', group }, autoscaler });
      assert.deepEqual([scalingTagChanges(s), nextScalingTags(s)], [[], undefined]);
      const removed = retainTagChanges(s.pool, group).flatMap(({ remove }) => remove);
      assert.equal(removed.includes(key), false);
    });
  }

  it('leaves out labels where AWS would take no more tags', () => {
    const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`label-${i}`, 'x']));
    const tags = tagsOf({ labels });
    assert.equal(Object.keys(tags).length, 40);
    assert.equal(tags['taint/os'], 'windows:NoSchedule');
  });
});

describe('the memory of what it was told', () => {
  it('begins with the group, and has only what is the user’s', () => {
    const group = { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) } as const;
    assert.equal(nextScalingTags(sampleState({ group })), undefined);
    const labelled = { ...group, group: { ...group.group, labels: { ...group.group.labels, team: 'web' } } };
    assert.deepEqual(nextScalingTags(sampleState({ group: labelled })), ['label/team']);
  });
});

describe('the tags of a scaling group', () => {
  it('are set when the group is ACTIVE, looked at once a resync, and put back', async () => {
    const { world, deps } = await readyWorld();
    assert.deepEqual(world.scalingTags(), SCALING_TAGS);
    world.cloud.state.group('web').autoScalingTags = [{ Key: 'cost', Value: '42' }];
    world.awsCalls();
    await reconcile('web', deps, signal);
    assert.deepEqual(world.awsCalls(), []);
    world.now += settings.resyncMs * 2;
    await wake(world, deps);
    assert.deepEqual(world.scalingTags(), { ...SCALING_TAGS, cost: '42' });
  });

  it('count 16 addresses for one with prefix delegation', async () => {
    const { world, deps } = await readyWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'true', 'enable-windows-prefix-delegation': 'true' };
    world.now += settings.resyncMs * 2;
    await wake(world, deps);
    const key = 'k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/PrivateIPv4Address';
    assert.deepEqual(world.scalingTags(), { ...SCALING_TAGS, [key]: '144' });
  });

  for (const call of ['DescribeAutoScalingGroups', 'CreateOrUpdateTags']) {
    it(`keep nothing else back while ${call} fails, and the cause is told`, async () => {
      const { world, deps } = await readyWorld();
      world.cloud.state.group('web').autoScalingTags = [];
      world.fails = (now) => (now === call ? sampleError('denied') : undefined);
      world.now += settings.resyncMs * 2;
      await wake(world, deps);
      const reported = world.pools.get('web')?.status?.conditions ?? [];
      const of = (type: string) => reported.find((condition) => condition.type === type);
      assert.equal(of('Ready')?.status, 'True');
      assert.match(of('PrerequisitesMet')?.message ?? '', new RegExp(`AWS denied ${call}`));
      world.fails = () => undefined;
      world.now += settings.deniedRetryMs * 2;
      await wake(world, deps);
      assert.deepEqual(world.scalingTags(), SCALING_TAGS);
    });
  }

  it('are asked for no more often than all else where AWS denies that for good', async () => {
    const { world, deps } = await readyWorld();
    world.fails = (now) => (now === 'DescribeAutoScalingGroups' ? sampleError('denied') : undefined);
    await hours(world, deps, 2);
    world.awsCalls();
    await hours(world, deps, 3);
    const looks = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(looks <= 18, `${looks} looks in 3 hours`);
  });
});
