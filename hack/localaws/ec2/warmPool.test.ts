import assert from 'node:assert/strict';
import type { AutoScalingCall, Ec2Call } from '../../../controllers/aws/calls.ts';
import { Ec2Instances } from '../../../controllers/aws/instances.ts';
import { AwsRateLimiter } from '../../../controllers/aws/rateLimiter.ts';
import { AutoScalingGroups } from '../../../controllers/aws/scalingGroups.ts';
import { realClock } from '../../../controllers/runtime/clock.ts';
import { switchTable } from '../switches.ts';
import { openPolicy, sampleCluster } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group } from '../testing/testGroup.ts';

for (const warmInstances of switchTable.warmInstances) {
  describe(`the instances of a warm pool, which Auto Scaling keeps ${warmInstances}`, () => {
    const start = async () => {
      const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { warmInstances } });
      await active(cloud, clock);
      cloud.faults.warmPool({ group: 'web', size: 3 });
      return { cloud, clock, name: cloud.state.groups.get('web')?.autoScalingGroup ?? '' };
    };
    const byTag = (name: string) => ({ Filters: [{ Name: 'tag:aws:autoscaling:groupName', Values: [name] }] });

    it('run and carry the tag of the scaling group, and do not count for its size', async () => {
      const { cloud, name } = await start();
      const { Reservations = [] } = await cloud.send('DescribeInstances', byTag(name));
      const states = Reservations.flatMap(({ Instances = [] }) => Instances.map(({ State }) => State?.Name));
      assert.deepEqual(states, ['running', 'running', 'running', 'running', 'running']);
      const { AutoScalingGroups: [found] = [] } = await cloud.send('DescribeAutoScalingGroups', {});
      assert.deepEqual([found?.DesiredCapacity, found?.WarmPoolSize], [2, 3]);
      assert.deepEqual(found?.WarmPoolConfiguration, { MinSize: 3, PoolState: 'Running' });
      const warm = found?.Instances?.filter(({ LifecycleState }) => LifecycleState === 'Warmed:Running').length;
      assert.equal(warm, warmInstances === 'listed' ? 3 : 0);
    });

    it('are not among the instances that the operator expects as nodes', async () => {
      const { cloud, name } = await start();
      const limiter = new AwsRateLimiter(() => undefined, realClock);
      const send = (operation: string, input: object) => cloud.send(operation as 'DescribeInstances', input);
      const scalingGroups = new AutoScalingGroups(sampleCluster.name, send as unknown as AutoScalingCall, limiter);
      const instances = new Ec2Instances(send as unknown as Ec2Call, limiter, (of, signal) =>
        scalingGroups.members(of, signal),
      );
      const found = await instances.ofScalingGroup(name, new AbortController().signal);
      const members = [...cloud.state.instances.values()].filter(({ warm }) => warm !== true).map(({ id }) => id);
      assert.deepEqual(found.ok && found.value.map(({ id }) => id), members);
      assert.equal(members.length, 2);
    });

    it('are terminated with the group, and when the warm pool is removed', async () => {
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
