import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, errors, group, inState, issues, rejection, statusOf } from '../testing/testGroup.ts';

describe('the lifecycle of a node group', () => {
  it('starts without resources, labels and taints, and with an Auto Scaling group when ACTIVE', async () => {
    const { cloud, clock } = memoryCloud();
    const { nodegroup } = await cloud.send('CreateNodegroup', sampleGroup());
    const { status, version, releaseVersion, health, updateConfig, diskSize } = nodegroup ?? {};
    assert.deepEqual(
      { status, version, releaseVersion, health, updateConfig, diskSize },
      {
        status: 'CREATING',
        version: '1.36',
        releaseVersion: '1.36-2026.04.18',
        health: { issues: [] },
        updateConfig: { maxUnavailable: 1 },
        diskSize: 50,
      },
    );
    for (const key of ['resources', 'labels', 'taints'])
      assert.ok(!Object.hasOwn(nodegroup ?? {}, key), `${key} is there`);
    clock.advance(2.9);
    assert.equal(await statusOf(cloud), 'CREATING');
    clock.advance(0.1);
    const { nodegroup: done } = await cloud.send('DescribeNodegroup', group);
    const uuid = done?.nodegroupArn?.split('/').at(-1);
    assert.equal(done?.status, 'ACTIVE');
    assert.deepEqual(done?.resources, { autoScalingGroups: [{ name: `eks-web-${uuid}` }] });
    assert.match(done?.nodegroupArn ?? '', /^arn:aws:eks:us-west-2:111122223333:nodegroup\/demo\/web\/[0-9a-f-]{36}$/);
  });

  it('includes CREATE_FAILED with its issues until the deletion', async () => {
    const { cloud, clock } = await inState('CREATE_FAILED', {});
    assert.deepEqual((await cloud.send('DescribeNodegroup', group)).nodegroup?.health, { issues });
    clock.advance(3600);
    assert.equal(await statusOf(cloud), 'CREATE_FAILED');
    assert.match(
      await rejection(cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } })),
      /not in Active State/,
    );
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assertNames(await rejection(statusOf(cloud)), 'ResourceNotFoundException', 'No node group found for name: web');
  });

  it('includes a failed creation when an instance never joins', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.nextNode({ neverJoins: true });
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(19);
    assert.equal(await statusOf(cloud), 'CREATING');
    clock.advance(1);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    const [issue] = nodegroup?.health?.issues ?? [];
    assert.equal(nodegroup?.status, 'CREATE_FAILED');
    assert.equal(issue?.code, 'NodeCreationFailure');
    assert.equal(issue?.resourceIds?.length, 1);
  });

  it('includes a failed creation with a label that the kubelet rejects', async () => {
    const { cloud, clock } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ labels: { 'kubernetes.io/role': 'x' } }));
    clock.advance(20);
    assert.equal(await statusOf(cloud), 'CREATE_FAILED');
  });

  it('includes a new configuration when an update succeeds, not before', async () => {
    const { cloud, clock } = memoryCloud({ policy: openPolicy });
    await active(cloud, clock);
    const request = { ...group, labels: { addOrUpdateLabels: { a: 'b' } }, scalingConfig: { minSize: 2 } };
    const { update } = await cloud.send('UpdateNodegroupConfig', request);
    assert.deepEqual(update, {
      id: update?.id,
      status: 'InProgress',
      type: 'ConfigUpdate',
      params: [
        { type: 'LabelsToAdd', value: '{"a":"b"}' },
        { type: 'MinSize', value: '2' },
      ],
      createdAt: new Date(clock.now()),
      errors: [],
    });
    assert.equal(await statusOf(cloud), 'UPDATING');
    assert.equal((await cloud.send('DescribeNodegroup', group)).nodegroup?.labels, undefined);
    clock.advance(1.5);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual(
      [nodegroup?.status, nodegroup?.labels, nodegroup?.scalingConfig],
      ['ACTIVE', { a: 'b' }, { minSize: 2, maxSize: 5, desiredSize: 2 }],
    );
    const described = await cloud.send('DescribeUpdate', {
      name: 'demo',
      nodegroupName: 'web',
      updateId: update?.id ?? '',
    });
    assert.equal(described.update?.status, 'Successful');
  });

  it('returns to ACTIVE with the old configuration when an update fails, and only the update has the error', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    cloud.faults.updateFailure({ errors });
    const { update } = await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 9 } });
    clock.advance(1.5);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual(
      [nodegroup?.status, nodegroup?.scalingConfig?.maxSize, nodegroup?.health],
      ['ACTIVE', 5, { issues: [] }],
    );
    const described = await cloud.send('DescribeUpdate', {
      name: 'demo',
      nodegroupName: 'web',
      updateId: update?.id ?? '',
    });
    assert.deepEqual([described.update?.status, described.update?.errors], ['Failed', errors]);
  });

  it('has one update at a time', async () => {
    const { cloud } = await inState('UPDATING', {});
    assertNames(
      await rejection(cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 7 } })),
      'ResourceInUseException',
      'not in Active State',
    );
  });

  it('returns from DEGRADED to ACTIVE by a scale-out, and by no other update', async () => {
    const { cloud, clock } = await inState('DEGRADED', {});
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { minSize: 0, desiredSize: 0 } });
    clock.advance(1.5);
    assert.equal(await statusOf(cloud), 'DEGRADED');
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { desiredSize: 1 } });
    clock.advance(1.5);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.health], ['ACTIVE', { issues: [] }]);
  });

  it('includes DELETE_FAILED with the nodes kept, and another deletion', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    cloud.faults.deleteFailure({ issues });
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assert.equal(await statusOf(cloud), 'DELETE_FAILED');
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assertNames(await rejection(statusOf(cloud)), 'ResourceNotFoundException', 'No node group found for name: web');
    assert.ok([...cloud.state.instances.values()].every(({ state }) => state === 'terminated'));
  });

  it('can be repeated with the same name and another ARN', async () => {
    const { cloud, clock } = memoryCloud();
    const first = await cloud.send('CreateNodegroup', sampleGroup());
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    const second = await cloud.send('CreateNodegroup', sampleGroup());
    assert.notEqual(first.nodegroup?.nodegroupArn, second.nodegroup?.nodegroupArn);
    clock.advance(3);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });

  it('requires a cluster that is ACTIVE and not being updated', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.cluster({ status: 'UPDATING' });
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', sampleGroup())),
      "InvalidRequestException: Cluster 'demo' is not in ACTIVE status",
    );
    cloud.faults.cluster({ status: 'ACTIVE', runningUpdate: 'u-1' });
    assertNames(
      await rejection(cloud.send('CreateNodegroup', sampleGroup())),
      'ResourceInUseException',
      'cluster demo',
      'update u-1',
    );
    cloud.faults.cluster({ runningUpdate: null, exists: false });
    assert.equal(
      await rejection(cloud.send('DescribeNodegroup', group)),
      'ResourceNotFoundException: No cluster found for name: demo.',
    );
  });

  it('respects the quota of node groups', async () => {
    const { cloud } = memoryCloud({ nodegroupLimit: 1 });
    await cloud.send('CreateNodegroup', sampleGroup());
    assert.match(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ nodegroupName: 'two' }))),
      /^ResourceLimitExceededException/,
    );
  });

  it('is ten times as fast at speed 10', async () => {
    const { cloud, clock } = memoryCloud({ speed: 10 });
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(0.3);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });
});
