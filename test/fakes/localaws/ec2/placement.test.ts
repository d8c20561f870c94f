import assert from 'node:assert/strict';
import type { MemoryCloud } from '../memory.ts';
import { subnetIds } from '../network.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group, statusOf } from '../testing/testGroup.ts';

const freeOf = (cloud: MemoryCloud) => cloud.state.subnets.map(({ freeAddresses }) => freeAddresses);
const leave = (cloud: MemoryCloud, ...free: readonly number[]) => {
  for (const [index, freeAddresses] of free.entries()) {
    cloud.faults.subnet({ id: subnetIds[index] ?? '', freeAddresses });
  }
};
const health = async (cloud: MemoryCloud) => {
  const { nodegroup } = await cloud.send('DescribeNodegroup', group);
  return { status: nodegroup?.status, issues: nodegroup?.health?.issues?.map(({ code }) => code) };
};
const places = (cloud: MemoryCloud) =>
  [...cloud.state.instances.values()]
    .filter(({ state }) => state !== 'terminated')
    .map(({ type, subnet }) => `${type} ${subnet.zone}`);

describe('the launch of instances', () => {
  it('uses an address of their subnet, and releases it when they are terminated', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    assert.deepEqual(freeOf(cloud), [250, 250, 251]);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    await cloud.send('DescribeCluster', { name: 'demo' });
    assert.deepEqual(freeOf(cloud), [251, 251, 251]);
  });

  it('uses subnets with free addresses, and fails a creation if none has any', async () => {
    const { cloud, clock } = memoryCloud();
    leave(cloud, 0, 2, 0);
    await active(cloud, clock);
    assert.deepEqual(places(cloud), ['m5.large us-west-2b', 'm5.large us-west-2b']);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    await cloud.send('DescribeCluster', { name: 'demo' });
    leave(cloud, 0, 1, 0);
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(19);
    assert.equal(await statusOf(cloud), 'CREATING');
    clock.advance(1);
    assert.deepEqual(await health(cloud), { status: 'CREATE_FAILED', issues: ['InsufficientFreeAddresses'] });
  });

  it('is retried, so that a creation continues when addresses are released in time', async () => {
    const { cloud, clock } = memoryCloud();
    leave(cloud, 0, 0, 0);
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(2);
    await statusOf(cloud);
    leave(cloud, 5, 5, 5);
    clock.advance(18);
    assert.deepEqual(await health(cloud), { status: 'ACTIVE', issues: [] });
  });

  it('degrades a group whose scale-out finds no free address, until there are some', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    leave(cloud, 0, 1, 0);
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { desiredSize: 4 } });
    clock.advance(1.5);
    assert.deepEqual(await health(cloud), { status: 'DEGRADED', issues: ['InsufficientFreeAddresses'] });
    assert.equal(places(cloud).length, 3);
    leave(cloud, 1, 0, 0);
    assert.deepEqual(await health(cloud), { status: 'ACTIVE', issues: [] });
    assert.equal(places(cloud).length, 4);
  });

  it('also degrades a group that is changed in the console or loses an instance', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    leave(cloud, 0, 0, 0);
    cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 3 } });
    assert.deepEqual(await health(cloud), { status: 'DEGRADED', issues: ['InsufficientFreeAddresses'] });
    cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 2 } });
    const [first] = cloud.state.instances.values();
    cloud.faults.terminateInstance({ node: first?.id ?? '' });
    assert.equal(places(cloud).length, 2);
  });

  it('uses a zone that offers the type, or the next type of the group', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.offering({ instanceType: 'm5.large', zones: ['us-west-2c'] });
    await active(cloud, clock);
    assert.deepEqual(places(cloud), ['m5.large us-west-2c', 'm5.large us-west-2c']);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    const subnets = [subnetIds[0], subnetIds[1]];
    const second = { nodegroupName: 'second', subnets, instanceTypes: ['m5.large', 'm5.xlarge'] };
    await cloud.send('CreateNodegroup', sampleGroup(second));
    clock.advance(3);
    await cloud.send('DescribeCluster', { name: 'demo' });
    assert.deepEqual(places(cloud), ['m5.xlarge us-west-2a', 'm5.xlarge us-west-2b']);
  });

  it('fails a creation if no zone of the group offers its types', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.offering({ instanceType: 'm5.large', zones: ['us-west-2c'] });
    await cloud.send('CreateNodegroup', sampleGroup({ subnets: [subnetIds[0]] }));
    clock.advance(20);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.equal(nodegroup?.status, 'CREATE_FAILED');
    const [issue] = nodegroup?.health?.issues ?? [];
    assert.equal(issue?.code, 'AsgInstanceLaunchFailures');
    assert.match(issue?.message ?? '', /instance type \(m5.large\) is not supported in .*\(us-west-2a\)/);
  });
});
