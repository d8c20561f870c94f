import assert from 'node:assert/strict';
import type { WarmPoolConfig } from '@aws-sdk/client-eks';
import { createInstances } from '../../../../controllers/aws/instances.ts';
import { membersOf } from '../../../../controllers/aws/scalingGroups.ts';
import { callsOf } from '../../../../controllers/aws/testing/callsOf.ts';
import type { MemoryCloud } from '../memory.ts';
import type { NodeEvent } from '../records.ts';
import { type Switches, switchTable } from '../switches.ts';
import { openPolicy, sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group } from '../testing/testGroup.ts';

/** A group of 2 nodes, at most 5, with a warm pool whose instances are prepared. */
async function withWarmPool(warmPoolConfig: WarmPoolConfig, switches: Partial<Switches> = {}) {
  const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { warmInstances: 'listed', ...switches } });
  await cloud.send('CreateNodegroup', sampleGroup({ warmPoolConfig }));
  clock.advance(4);
  await settled(cloud);
  return { cloud, clock };
}

const settled = (cloud: MemoryCloud) => cloud.send('ListNodegroups', { clusterName: sampleCluster.name });

const nameOf = (cloud: MemoryCloud): string => cloud.state.groups.get('web')?.autoScalingGroup ?? '';

const scaleTo = (cloud: MemoryCloud, DesiredCapacity: number) =>
  cloud.send('SetDesiredCapacity', { AutoScalingGroupName: nameOf(cloud), DesiredCapacity });

/** How many instances Auto Scaling has in each state: `InService 2, Warmed:Stopped 3`. */
async function statesIn(cloud: MemoryCloud): Promise<string> {
  const { AutoScalingGroups: [found] = [] } = await cloud.send('DescribeAutoScalingGroups', {});
  const states = Map.groupBy(found?.Instances ?? [], ({ LifecycleState = '' }) => LifecycleState);
  return [...states].map(([state, { length }]) => `${state} ${length}`).join(', ');
}

describe('the warm pool of a node group', () => {
  for (const [size, config, desired, most] of [
    ['as many instances as the maximum exceeds the desired size by default', {}, 2, 3],
    ['the same with the capacity -1', { maxGroupPreparedCapacity: -1 }, 2, 3],
    ['what its capacity leaves beside the desired size', { maxGroupPreparedCapacity: 4 }, 2, 2],
    ['no instances if the desired size reaches its capacity', { maxGroupPreparedCapacity: 2 }, 3, 0],
    ['at least its minimum', { minSize: 1, maxGroupPreparedCapacity: 2 }, 3, 1],
    ['its minimum, if that is its capacity', { minSize: 2, maxGroupPreparedCapacity: 2 }, 2, 2],
    ['no instances if it is disabled', { enabled: false }, 2, 0],
  ] as const) {
    it(`has ${size}`, async () => {
      const { cloud, clock } = await withWarmPool({ enabled: true, ...config });
      await scaleTo(cloud, desired);
      clock.advance(2);
      assert.equal(await statesIn(cloud), `InService ${desired}${most > 0 ? `, Warmed:Stopped ${most}` : ''}`);
    });
  }

  for (const [poolState, warmed, ec2, seconds] of [
    ['STOPPED', 'Warmed:Stopped', 'stopped', 0.5],
    ['HIBERNATED', 'Warmed:Hibernated', 'stopped', 0.3],
    ['RUNNING', 'Warmed:Running', 'running', 0.2],
  ] as const) {
    it(`keeps instances ${poolState}, and they join ${seconds} s after they are needed`, async () => {
      const { cloud, clock } = await withWarmPool({ enabled: true, maxGroupPreparedCapacity: 3, poolState });
      assert.equal(await statesIn(cloud), `InService 2, ${warmed} 1`);
      const [warm] = [...cloud.state.instances.values()].slice(-1);
      assert.equal(warm?.state, ec2);
      const joined: [string, number][] = [];
      const start = clock.now();
      cloud.state.onNodeEvent(({ kind, instance }) => {
        if (kind === 'join') joined.push([instance.id, (cloud.state.timeline.now().getTime() - start) / 1_000]);
      });
      await scaleTo(cloud, 4);
      clock.advance(2);
      await settled(cloud);
      const cold = [...cloud.state.instances.keys()].at(-1);
      assert.deepEqual(joined, [
        [warm?.id, seconds],
        [cold, 1],
      ]);
      assert.equal(await statesIn(cloud), 'InService 4');
      assert.equal((warm?.launchedAt.getTime() ?? 0) >= start, ec2 === 'stopped');
    });
  }

  it('launches other instances for those that were taken, if they are below its minimum', async () => {
    const { cloud, clock } = await withWarmPool({ enabled: true, minSize: 2, maxGroupPreparedCapacity: 2 });
    await scaleTo(cloud, 3);
    assert.equal(await statesIn(cloud), 'InService 2, Pending 1, Warmed:Stopped 1, Warmed:Pending 1');
    clock.advance(2);
    assert.equal(await statesIn(cloud), 'InService 3, Warmed:Stopped 2');
  });

  it('does not give instances that are still booting: others are launched', async () => {
    const { cloud, clock } = await withWarmPool({ enabled: true, minSize: 1, maxGroupPreparedCapacity: 1 });
    await scaleTo(cloud, 3);
    await scaleTo(cloud, 4);
    clock.advance(0.6);
    assert.equal(await statesIn(cloud), 'InService 3, Pending 1, Warmed:Pending 1');
  });

  it('takes one address of its subnet for each instance, whatever its state, until it is terminated with the group', async () => {
    const free = (cloud: MemoryCloud) => cloud.state.subnets.reduce((sum, { freeAddresses }) => sum + freeAddresses, 0);
    const before = free(memoryCloud().cloud);
    const { cloud, clock } = await withWarmPool({ enabled: true });
    assert.equal(free(cloud), before - 5);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(3);
    await settled(cloud);
    assert.equal(free(cloud), before);
  });

  for (const [how, scaleIn] of [
    ['the desired size is lowered', (cloud: MemoryCloud) => scaleTo(cloud, 1)],
    [
      'an autoscaler terminates an instance',
      (cloud: MemoryCloud) => {
        const [InstanceId] = cloud.state.instances.keys();
        return cloud.send('TerminateInstanceInAutoScalingGroup', { InstanceId, ShouldDecrementDesiredCapacity: true });
      },
    ],
  ] as const) {
    for (const nodesOfReusedInstances of switchTable.nodesOfReusedInstances) {
      it(`gets an instance back when ${how} with reuseOnScaleIn, and its node is ${nodesOfReusedInstances}`, async () => {
        const config = { enabled: true, maxGroupPreparedCapacity: 2, reuseOnScaleIn: true };
        const { cloud, clock } = await withWarmPool(config, { nodesOfReusedInstances });
        const events: NodeEvent[] = [];
        cloud.state.onNodeEvent((event) => {
          if (event.kind === 'drain') event.drained();
          else events.push(event);
        });
        await scaleIn(cloud);
        clock.advance(3);
        assert.equal(await statesIn(cloud), 'InService 1, Warmed:Stopped 1');
        const leaving = nodesOfReusedInstances === 'deleted' ? 'leave' : 'lost';
        assert.equal(events.at(-1)?.kind, leaving);
        const [id] = cloud.state.instances.keys();
        assert.equal(events.at(-1)?.instance.id, id);
        await scaleTo(cloud, 2);
        clock.advance(1);
        assert.equal(await statesIn(cloud), 'InService 2');
        const back = events.slice(events.findIndex(({ kind }) => kind === leaving) + 1).map(({ kind }) => kind);
        const expected = leaving === 'leave' ? ['join'] : ['join', 'ready', 'cordon'];
        assert.deepEqual(back, [...expected, 'podAddresses']);
        assert.equal(cloud.state.instances.size, 2);
      });
    }
  }

  it('terminates an instance that is scaled in without reuseOnScaleIn, and launches one if it lacks one', async () => {
    const { cloud, clock } = await withWarmPool({ enabled: true, maxGroupPreparedCapacity: 3 });
    await scaleTo(cloud, 1);
    clock.advance(2);
    assert.equal(await statesIn(cloud), 'InService 1, Warmed:Stopped 2');
    const ended = [...cloud.state.instances.values()].filter(({ state }) => state === 'terminated');
    assert.equal(ended.length, 1);
  });

  for (const outdatedWarmInstances of switchTable.outdatedWarmInstances) {
    it(`has its instances ${outdatedWarmInstances} when the version or the labels of the group change`, async () => {
      const start = () => withWarmPool({ enabled: true, maxGroupPreparedCapacity: 3 }, { outdatedWarmInstances });
      const warm = (cloud: MemoryCloud) =>
        [...cloud.state.instances.values()].filter((one) => one.warm !== undefined && one.state !== 'terminated');
      const relabeled = await start();
      await relabeled.cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { tier: 'a' } } });
      relabeled.clock.advance(4);
      await settled(relabeled.cloud);
      const isKept = outdatedWarmInstances === 'kept';
      assert.deepEqual(
        warm(relabeled.cloud).map(({ nodeLabels }) => nodeLabels.tier),
        [isKept ? undefined : 'a'],
      );
      const { cloud, clock } = await start();
      const [before] = warm(cloud);
      cloud.faults.release({ date: '2026.05.19' });
      clock.advance(5);
      // In place of the first node that is replaced, the instance of the warm pool goes into service.
      await cloud.send('UpdateNodegroupConfig', { ...group, updateConfig: { updateStrategy: 'MINIMAL' } });
      clock.advance(2);
      await cloud.send('UpdateNodegroupVersion', group);
      clock.advance(30);
      await settled(cloud);
      const releases = [...cloud.state.instances.values()]
        .filter(({ state }) => state !== 'terminated')
        .map(({ releaseVersion }) => releaseVersion);
      assert.equal(releases.includes(before?.releaseVersion ?? ''), isKept);
      assert.equal(releases.length, 3);
    });
  }

  it('has no nodes before its instances are in service, or nodes that are lost, depending on the switch', async () => {
    for (const [nodesOfWarmInstances, kinds] of [
      ['absent', ['join', 'podAddresses']],
      ['registered', ['join', 'lost', 'join', 'ready', 'cordon', 'podAddresses']],
    ] as const) {
      const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { nodesOfWarmInstances } });
      await active(cloud, clock);
      const events: NodeEvent[] = [];
      cloud.state.onNodeEvent((event) => events.push(event));
      const warmPoolConfig = { enabled: true, maxGroupPreparedCapacity: 3 };
      await cloud.send('UpdateNodegroupConfig', { ...group, warmPoolConfig });
      clock.advance(4);
      await settled(cloud);
      await scaleTo(cloud, 3);
      clock.advance(2);
      await settled(cloud);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        kinds,
      );
    }
  });
});

for (const warmInstances of switchTable.warmInstances) {
  describe(`a warm pool that another client of Auto Scaling has made, whose instances Auto Scaling keeps ${warmInstances}`, () => {
    const start = async () => {
      const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { warmInstances } });
      await active(cloud, clock);
      cloud.faults.warmPool({ group: 'web', size: 3 });
      clock.advance(1);
      return { cloud, clock, name: nameOf(cloud) };
    };
    const byTag = (name: string) => ({ Filters: [{ Name: 'tag:aws:autoscaling:groupName', Values: [name] }] });

    it('has instances that run and carry the tag of the scaling group, and do not count for its size', async () => {
      const { cloud, name } = await start();
      const { Reservations = [] } = await cloud.send('DescribeInstances', byTag(name));
      const states = Reservations.flatMap(({ Instances = [] }) => Instances.map(({ State }) => State?.Name));
      assert.deepEqual(states, ['running', 'running', 'running', 'running', 'running']);
      const { AutoScalingGroups: [found] = [] } = await cloud.send('DescribeAutoScalingGroups', {});
      assert.deepEqual([found?.DesiredCapacity, found?.WarmPoolSize], [2, 3]);
      assert.deepEqual(found?.WarmPoolConfiguration, {
        MaxGroupPreparedCapacity: 3,
        MinSize: 3,
        PoolState: 'Running',
        InstanceReusePolicy: { ReuseOnScaleIn: false },
      });
      const warm = found?.Instances?.filter(({ LifecycleState }) => LifecycleState === 'Warmed:Running').length;
      assert.equal(warm, warmInstances === 'listed' ? 3 : 0);
    });

    it('has no instances that the operator expects as nodes', async () => {
      const { cloud, name } = await start();
      const calls = callsOf((operation, input) => cloud.send(operation as 'DescribeInstances', input));
      const instances = createInstances(calls, membersOf(calls));
      const found = await instances.ofScalingGroup(name, new AbortController().signal);
      const members = [...cloud.state.instances.values()].filter(({ warm }) => warm === undefined).map(({ id }) => id);
      assert.deepEqual(found.ok && found.value.map(({ id }) => id), members);
      assert.equal(members.length, 2);
    });

    it('is terminated with the group, and when it is removed', async () => {
      const { cloud, clock } = await start();
      const living = () => [...cloud.state.instances.values()].filter(({ state }) => state !== 'terminated').length;
      cloud.faults.warmPool({ group: 'web', size: 1 });
      assert.equal(living(), 3);
      await cloud.send('DeleteNodegroup', group);
      clock.advance(3);
      await cloud.send('ListNodegroups', { clusterName: sampleCluster.name });
      assert.equal(living(), 0);
    });
  });
}
