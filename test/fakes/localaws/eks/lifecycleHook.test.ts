import assert from 'node:assert/strict';
import type { MemoryCloud } from '../memory.ts';
import type { NodeEvent } from '../records.ts';
import type { Switches } from '../switches.ts';
import { openPolicy } from '../testing/fixtures.ts';
import { memoryCloud, type TestClock } from '../testing/testClock.ts';
import { active, group, rejection } from '../testing/testGroup.ts';

interface Fixture {
  readonly cloud: MemoryCloud;
  readonly clock: TestClock;
  /** The instances of the group at the beginning. */
  readonly ids: readonly string[];
}

async function fixtureWith(switches: Partial<Switches> = {}): Promise<Fixture> {
  const { cloud, clock } = memoryCloud({ policy: openPolicy, switches });
  await active(cloud, clock);
  return { cloud, clock, ids: [...cloud.state.instances.keys()] };
}

const end = (cloud: MemoryCloud, InstanceId: string | undefined, ShouldDecrementDesiredCapacity = false) =>
  cloud.send('TerminateInstanceInAutoScalingGroup', { InstanceId, ShouldDecrementDesiredCapacity });

/** The states of an instance in Auto Scaling and in EC2. */
async function statesOf(cloud: MemoryCloud, id: string | undefined): Promise<(string | undefined)[]> {
  const { AutoScalingGroups = [] } = await cloud.send('DescribeAutoScalingGroups', {});
  const { Reservations = [] } = await cloud.send('DescribeInstances', {});
  const instances = Reservations.flatMap(({ Instances = [] }) => Instances);
  return [
    AutoScalingGroups[0]?.Instances?.find(({ InstanceId }) => InstanceId === id)?.LifecycleState,
    instances.find(({ InstanceId }) => InstanceId === id)?.State?.Name,
  ];
}

const sizeOf = async (cloud: MemoryCloud): Promise<number | undefined> =>
  (await cloud.send('DescribeNodegroup', group)).nodegroup?.scalingConfig?.desiredSize;

describe("the lifecycle hook of a node group's Auto Scaling group", () => {
  it('delays a termination until the node is drained: EC2 shows the instance as running until then, and its Node is lost before it is deleted', async () => {
    const { cloud, clock, ids } = await fixtureWith();
    const events: string[] = [];
    const drains: (() => void)[] = [];
    cloud.state.onNodeEvent((event: NodeEvent) => {
      if (event.instance.id === ids[0]) events.push(event.kind);
      if (event.kind === 'drain') drains.push(event.drained);
    });
    await end(cloud, ids[0]);
    assert.deepEqual(await statesOf(cloud, ids[0]), ['Terminating:Wait', 'running']);
    clock.advance(5);
    assert.deepEqual(await statesOf(cloud, ids[0]), ['Terminating:Wait', 'running']);
    assert.deepEqual(events, ['cordon', 'drain']);
    for (const drained of drains) drained();
    clock.advance(0.15);
    assert.deepEqual(await statesOf(cloud, ids[0]), ['Terminating:Proceed', 'running']);
    clock.advance(0.2);
    assert.deepEqual(await statesOf(cloud, ids[0]), [undefined, 'terminated']);
    assert.deepEqual(events, ['cordon', 'drain', 'lost']);
    clock.advance(0.5);
    assert.deepEqual(await statesOf(cloud, ids[0]), [undefined, 'terminated']);
    assert.deepEqual(events, ['cordon', 'drain', 'lost', 'leave']);
  });

  it('terminates an instance with pods after 15 minutes', async () => {
    const { cloud, clock, ids } = await fixtureWith();
    cloud.faults.blockDrain();
    await end(cloud, ids[0]);
    clock.advance(15);
    assert.deepEqual(await statesOf(cloud, ids[0]), ['Terminating:Wait', 'running']);
    clock.advance(1);
    assert.deepEqual(await statesOf(cloud, ids[0]), [undefined, 'terminated']);
  });

  it('does not delay the launch of another instance, or the change of the size', async () => {
    for (const [shrink, size, instances] of [
      [false, 2, 3],
      [true, 1, 2],
    ] as const) {
      const { cloud, ids } = await fixtureWith();
      await end(cloud, ids[0], shrink);
      assert.deepEqual([await sizeOf(cloud), cloud.state.instances.size], [size, instances]);
      assert.deepEqual(await statesOf(cloud, ids[0]), ['Terminating:Wait', 'running']);
      assert.deepEqual(await statesOf(cloud, ids[1]), ['InService', 'running']);
    }
  });

  it('does not apply to an instance that ends in EC2, also if it is delayed', async () => {
    for (const isKept of [false, true]) {
      const { cloud, ids } = await fixtureWith();
      if (isKept) await end(cloud, ids[0]);
      cloud.faults.terminateInstance({ node: ids[0] ?? '' });
      assert.deepEqual(await statesOf(cloud, ids[0]), [undefined, 'terminated']);
      assert.equal(cloud.state.instances.size, 3);
    }
  });

  it('makes a second call shrink the group again or fail, depending on the switch', async () => {
    for (const [repeatedTermination, answer, size] of [
      ['accept', /^accepted$/, 1],
      ['refuse', /^ScalingActivityInProgressFault: Activity \S+ is in progress\.$/, 2],
    ] as const) {
      const { cloud, clock, ids } = await fixtureWith({ repeatedTermination });
      await cloud.send('SetDesiredCapacity', { AutoScalingGroupName: nameOf(cloud), DesiredCapacity: 3 });
      await end(cloud, ids[0], true);
      assert.match(await rejection(end(cloud, ids[0], true)), answer);
      clock.advance(10);
      assert.equal(await sizeOf(cloud), size);
      assert.equal([...cloud.state.instances.values()].filter(({ state }) => state !== 'terminated').length, size);
    }
  });

  it('does not block the deletion of a node group', async () => {
    const { cloud, clock, ids } = await fixtureWith();
    cloud.faults.blockDrain();
    await end(cloud, ids[0]);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assert.deepEqual((await statesOf(cloud, ids[0]))[1], 'terminated');
    assert.equal(cloud.state.groups.size, 0);
  });
});

const nameOf = (cloud: MemoryCloud): string => cloud.state.groups.get('web')?.autoScalingGroup ?? '';
