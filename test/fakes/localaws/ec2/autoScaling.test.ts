import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { group, rejection } from '../testing/testGroup.ts';

describe('the Auto Scaling group of a node group, through the real SDK client', () => {
  const fixture = withOpenCloud({ speed: 100, switches: { releaseInEks: 'atOnce' } });
  let name: string;
  const asg = async () => {
    const { AutoScalingGroups = [] } = await fixture.sdk.autoscaling.describeAutoScalingGroups({
      AutoScalingGroupNames: [name],
    });
    const [found] = AutoScalingGroups;
    assert.ok(found);
    return found;
  };
  const nodegroup = async () => (await fixture.sdk.eks.describeNodegroup(group)).nodegroup;
  const running = async () => {
    const { Reservations = [] } = await fixture.sdk.ec2.describeInstances({
      Filters: [{ Name: 'instance-state-name', Values: ['pending', 'running'] }],
    });
    return Reservations.flatMap(({ Instances = [] }) => Instances);
  };
  const setDesired = (DesiredCapacity: number) =>
    fixture.sdk.autoscaling.setDesiredCapacity({ AutoScalingGroupName: name, DesiredCapacity });

  before(async () => {
    await fixture.sdk.eks.createNodegroup(sampleGroup());
    const deadline = Date.now() + 30_000;
    while ((await nodegroup())?.status !== 'ACTIVE') assert.ok(Date.now() < deadline, 'not ACTIVE after 30 s');
    name = (await nodegroup())?.resources?.autoScalingGroups?.[0]?.name ?? '';
  });

  it('has its sizes, zones, instances and template', async () => {
    const found = await asg();
    const uuid = (await nodegroup())?.nodegroupArn?.split('/').at(-1);
    assert.deepEqual([found.MinSize, found.DesiredCapacity, found.MaxSize], [1, 2, 5]);
    assert.deepEqual(found.AvailabilityZones, ['us-west-2a', 'us-west-2b', 'us-west-2c']);
    assert.deepEqual(
      found.Instances?.map(({ InstanceId, LifecycleState }) => [InstanceId, LifecycleState]),
      (await running()).map(({ InstanceId }) => [InstanceId, 'InService']),
    );
    assert.equal(
      found.AutoScalingGroupARN,
      `arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:${uuid}:autoScalingGroupName/${name}`,
    );
    const { LaunchTemplateSpecification, Overrides } = found.MixedInstancesPolicy?.LaunchTemplate ?? {};
    assert.deepEqual(
      [LaunchTemplateSpecification?.LaunchTemplateName, LaunchTemplateSpecification?.Version, Overrides],
      [`eks-${uuid}`, '1', [{ InstanceType: 'm5.large' }]],
    );
    assert.ok(found.CreatedTime instanceof Date);
  });

  it('is found by the tags of the autoscaler, and not by other names', async () => {
    const find = async (request: object) =>
      (await fixture.sdk.autoscaling.describeAutoScalingGroups(request)).AutoScalingGroups?.length;
    const byTag = (Name: string, ...Values: string[]) => find({ Filters: [{ Name, Values }] });
    assert.deepEqual(
      await Promise.all([
        byTag('tag-key', 'k8s.io/cluster-autoscaler/enabled'),
        byTag('tag:k8s.io/cluster-autoscaler/demo', 'owned'),
        byTag('tag-value', 'nothing'),
        find({ AutoScalingGroupNames: ['none'] }),
        find({ AutoScalingGroupNames: [] }),
        find({ MaxRecords: 1, IncludeInstances: false }),
      ]),
      [1, 1, 0, 0, 1, 1],
    );
    assert.match(await rejection(byTag('colour', 'red')), /^ValidationError: Filter type colour is not correct/);
    assert.match(await rejection(find({ MaxRecords: 0 })), /^ValidationError/);
  });

  it('accepts tags, propagates them to the instances that it launches, and returns them', async () => {
    const tag = { ResourceId: name, ResourceType: 'auto-scaling-group', Key: 'team', Value: 'a & b' };
    await fixture.sdk.autoscaling.createOrUpdateTags({ Tags: [{ ...tag, PropagateAtLaunch: true }] });
    const found = async () => (await asg()).Tags?.filter(({ Key }) => Key === 'team');
    assert.deepEqual(await found(), [{ ...tag, PropagateAtLaunch: true }]);
    await setDesired(3);
    const tagged = (await running()).map(({ Tags = [] }) => Tags.some(({ Key }) => Key === 'team'));
    assert.deepEqual(tagged, [false, false, true]);
    await fixture.sdk.autoscaling.createOrUpdateTags({ Tags: [{ ...tag, Value: 'other', PropagateAtLaunch: false }] });
    assert.deepEqual(await found(), [{ ...tag, Value: 'other', PropagateAtLaunch: false }]);
    await fixture.sdk.autoscaling.deleteTags({ Tags: [tag] });
    assert.deepEqual(await found(), []);
    await fixture.sdk.autoscaling.deleteTags({ Tags: [tag] });
  });

  it('rejects more than 25 tags, tags of AWS, of groups that do not exist, and of other resources', async () => {
    const tags = (tag: object) => fixture.sdk.autoscaling.createOrUpdateTags({ Tags: [{ Key: 'a', ...tag }] });
    assertNames(await rejection(tags({ ResourceId: 'none' })), /^ValidationError: .*AutoScalingGroup none not found$/);
    assert.match(await rejection(tags({ ResourceId: name, Key: 'aws:x' })), /^ValidationError: .*aws:/);
    assert.match(await rejection(tags({ ResourceId: name, ResourceType: 'node' })), /must be auto-scaling-group/);
    const Tags = Array.from({ length: 26 }, (_, i) => ({ ResourceId: name, Key: `k${i}`, Value: '' }));
    assert.match(await rejection(fixture.sdk.autoscaling.createOrUpdateTags({ Tags })), /is 26; it must be at most 25/);
  });

  it('changes its size within its bounds, and EKS reports it', async () => {
    await setDesired(4);
    assert.deepEqual((await nodegroup())?.scalingConfig, { minSize: 1, maxSize: 5, desiredSize: 4 });
    assert.equal((await running()).length, 4);
    await setDesired(1);
    assert.equal((await running()).length, 1);
    assertNames(await rejection(setDesired(6)), 'ValidationError', /\b6 is above max value 5\b/);
    assertNames(await rejection(setDesired(0)), 'ValidationError', /\b0 is below min value 1\b/);
  });

  it('replaces an instance, or shrinks', async () => {
    await setDesired(2);
    const end = async (shrink: boolean, id?: string) =>
      fixture.sdk.autoscaling.terminateInstanceInAutoScalingGroup({
        InstanceId: id ?? (await running())[0]?.InstanceId,
        ShouldDecrementDesiredCapacity: shrink,
      });
    const [first] = await running();
    const { Activity } = await end(false);
    assert.deepEqual([Activity?.StatusCode, Activity?.AutoScalingGroupName], ['InProgress', name]);
    const gone = async (id?: string) => {
      const deadline = Date.now() + 10_000;
      while ((await running()).some(({ InstanceId }) => InstanceId === id))
        assert.ok(Date.now() < deadline, `${id} still runs`);
    };
    await gone(first?.InstanceId);
    assert.equal((await running()).length, 2);
    const [second] = await running();
    await end(true);
    await gone(second?.InstanceId);
    assert.deepEqual([(await asg()).DesiredCapacity, (await running()).length], [1, 1]);
    assert.match(await rejection(end(true)), /^ValidationError: Currently, desiredSize equals minSize \(1\)/);
    assert.match(await rejection(end(true, 'i-0')), /No managed instance found for instance ID: i-0/);
    assert.match(await rejection(end(false, first?.InstanceId)), /No managed instance found/);
  });

  it('launches another instance when one is terminated in EC2', async () => {
    await setDesired(2);
    const [one, two] = await running();
    fixture.cloud.faults.terminateInstance({ node: one?.InstanceId ?? '' });
    const left = (await running()).map(({ InstanceId }) => InstanceId);
    assert.deepEqual([left.length, left[0]], [2, two?.InstanceId]);
  });

  it('is larger during a change of version, and follows an autoscaler in the meantime', async () => {
    const { state, faults } = fixture.cloud;
    faults.release({ date: '2026.05.19' });
    await setDesired(2);
    faults.speed({ speed: 1 });
    await fixture.sdk.eks.updateNodegroupVersion(group);
    const deadline = Date.now() + 30_000;
    while (state.groups.get('web')?.growth !== 6) {
      await asg();
      assert.ok(Date.now() < deadline, 'the group does not grow in 30 s');
    }
    assert.deepEqual([(await asg()).DesiredCapacity, (await asg()).MaxSize], [8, 11]);
    await setDesired(9);
    assert.equal((await nodegroup())?.scalingConfig?.desiredSize, 3);
    faults.speed({ speed: 1000 });
    while ((await nodegroup())?.status !== 'ACTIVE') assert.ok(Date.now() < deadline + 5_000, 'still UPDATING');
    assert.deepEqual([(await asg()).DesiredCapacity, (await asg()).MaxSize, (await running()).length], [3, 5, 3]);
  });

  it('reports failed launches in the health of the node group', async () => {
    for (const { id } of fixture.cloud.state.subnets) fixture.cloud.faults.subnet({ id, freeAddresses: 0 });
    await setDesired(4);
    const found = await nodegroup();
    assert.deepEqual(
      [found?.status, found?.health?.issues?.map(({ code }) => code)],
      ['DEGRADED', ['InsufficientFreeAddresses']],
    );
    for (const { id } of fixture.cloud.state.subnets) fixture.cloud.faults.subnet({ id, freeAddresses: 9 });
    assert.equal((await nodegroup())?.status, 'ACTIVE');
  });

  it('is deleted with its node group, and launches nothing after that', async () => {
    const [one] = await running();
    // Slow enough that the instance still exists when it is terminated.
    fixture.cloud.faults.speed({ speed: 1 });
    await fixture.sdk.eks.deleteNodegroup(group);
    fixture.cloud.faults.terminateInstance({ node: one?.InstanceId ?? '' });
    fixture.cloud.faults.speed({ speed: 1000 });
    const deadline = Date.now() + 30_000;
    while (fixture.cloud.state.groups.size > 0) {
      await running();
      assert.ok(Date.now() < deadline, 'the node group is still there');
    }
    assert.deepEqual(await running(), []);
    assert.match(await rejection(setDesired(1)), /AutoScalingGroup name not found/);
  });
});
