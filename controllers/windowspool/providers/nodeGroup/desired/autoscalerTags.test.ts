import assert from 'node:assert/strict';
import { GATE_TAINT } from '../../../nodes/nodeTaints.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { reconcile } from '../../../reconcile.ts';
import {
  SCALING_TAGS,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
  settings,
} from '../../../testing/fixtures.ts';
import { hours, readyWorld, wake } from '../../../testing/life.ts';
import { autoscalerTags, nextScalingTags, retainTagChanges, scalingTagChanges } from './autoscalerTags.ts';

const { signal } = new AbortController();
const STORAGE = 'resources/ephemeral-storage';

describe('the tags that describe a new node to the cluster-autoscaler', () => {
  const tagsOf = (change: Partial<NodeGroup>, addresses: number | undefined = 9) =>
    Object.fromEntries(autoscalerTags(samplePool(), sampleGroup(undefined, change), addresses));

  it('include what the scheduler uses: operating system, build, labels, taints, addresses', () => {
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

  it('include one taint for each key, the one with the strictest effect', () => {
    const taints = (['NoExecute', 'PreferNoSchedule', 'NoSchedule'] as const).map((effect) => ({ key: 'gpu', effect }));
    assert.equal(tagsOf({ taints })['taint/gpu'], ':NoExecute');
    assert.equal(tagsOf({ taints: taints.slice(1) })['taint/gpu'], ':NoSchedule');
  });

  it('omit gate taints that the cluster-autoscaler does not recognize', () => {
    for (const key of ['winpool.dev/unverified', 'readiness.k8s.io/web'])
      assert.equal(tagsOf({ taints: [{ key, effect: 'NoSchedule' }] })[`taint/${key}`], undefined);
  });

  it('omit unknown addresses, and the disk of a launch template', () => {
    const tags = autoscalerTags(samplePool(), sampleGroup(undefined, { diskSizeGiB: undefined }), undefined);
    assert.equal(
      [...tags.keys()].some((key) => key.startsWith('resources/')),
      false,
    );
  });

  it('include the size of the disk, so that pods that request ephemeral storage can scale up an empty group', () => {
    assert.equal(tagsOf({ diskSizeGiB: 100 })['resources/ephemeral-storage'], '100Gi');
  });

  for (const [where, diskSizeGiB] of [
    ['a launch template defines it', undefined],
    ['the node group defines it', 50],
  ] as const) {
    it(`keep a disk size that another client set if ${where}, also when the pool is deleted`, () => {
      const key = `k8s.io/cluster-autoscaler/node-template/${STORAGE}`;
      const group = sampleGroup(undefined, { diskSizeGiB });
      const autoscaler = {
        tags: { 'eks-web': { ...SCALING_TAGS, [key]: '20Gi' } },
        templateVersions: [],
        podAddresses: 9,
        warmInstances: 0,
      };
      const s = sampleState({ group: { kind: 'seen', group }, autoscaler });
      assert.deepEqual([scalingTagChanges(s), nextScalingTags(s)], [[], undefined]);
      const removed = retainTagChanges(s.pool, group).flatMap(({ remove }) => remove);
      assert.equal(removed.includes(key), false);
    });
  }

  it('omit labels beyond the tag limit of AWS', () => {
    const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`label-${i}`, 'x']));
    const tags = tagsOf({ labels });
    assert.equal(Object.keys(tags).length, 40);
    assert.equal(tags['taint/os'], 'windows:NoSchedule');
  });
});

describe('the record of the tags', () => {
  it('starts when the group is ACTIVE, and has only tags of the spec', () => {
    const group = { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) } as const;
    assert.equal(nextScalingTags(sampleState({ group })), undefined);
    const labelled = { ...group, group: { ...group.group, labels: { ...group.group.labels, team: 'web' } } };
    assert.deepEqual(nextScalingTags(sampleState({ group: labelled })), ['label/team']);
  });
});

describe('the tags of a scaling group', () => {
  it('are set when the group is ACTIVE, read once per resync interval, and restored', async () => {
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
    it(`do not block anything else while ${call} fails, and the cause is reported`, async () => {
      const { world, deps } = await readyWorld();
      world.cloud.state.group('web').autoScalingTags = [];
      world.fails = (now) => (now === call ? sampleError('denied') : undefined);
      world.now += settings.resyncMs * 2;
      await wake(world, deps);
      const conditions = world.pools.get('web')?.status?.conditions ?? [];
      const of = (type: string) => conditions.find((condition) => condition.type === type);
      assert.equal(of('Ready')?.status, 'True');
      assert.match(of('PrerequisitesMet')?.message ?? '', new RegExp(`AWS denied ${call}`));
      world.fails = () => undefined;
      world.now += settings.deniedRetryMs * 2;
      await wake(world, deps);
      assert.deepEqual(world.scalingTags(), SCALING_TAGS);
    });
  }

  it('are not read more often than everything else if AWS denies it permanently', async () => {
    const { world, deps } = await readyWorld();
    world.fails = (now) => (now === 'DescribeAutoScalingGroups' ? sampleError('denied') : undefined);
    await hours(world, deps, 2);
    world.awsCalls();
    await hours(world, deps, 3);
    const polls = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(polls <= 18, `${polls} looks in 3 hours`);
  });
});
