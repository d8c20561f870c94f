import assert from 'node:assert/strict';
import { openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, errors, group, inState, issues, rejection, statusOf } from '../testing/testGroup.ts';

describe('the life of a node group', () => {
  it('is created without resources, labels or taints, and gets its Auto Scaling group when ACTIVE', async () => {
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

  it('stays CREATE_FAILED with its issues until it is deleted', async () => {
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
    assert.equal(await rejection(statusOf(cloud)), 'ResourceNotFoundException: No node group found for name: web.');
  });

  it('fails to be created when an instance never joins', async () => {
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

  it('fails to be created with a label that no kubelet takes', async () => {
    const { cloud, clock } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ labels: { 'kubernetes.io/role': 'x' } }));
    clock.advance(20);
    assert.equal(await statusOf(cloud), 'CREATE_FAILED');
  });

  it('changes its configuration when an update succeeds, and not before', async () => {
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
    assert.deepEqual((await cloud.send('ListUpdates', { name: 'demo', nodegroupName: 'web' })).updateIds, [update?.id]);
  });

  it('returns to ACTIVE with the old configuration when an update fails, and only the update tells', async () => {
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

  it('does one update at a time', async () => {
    const { cloud } = await inState('UPDATING', {});
    assert.equal(
      await rejection(cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 7 } })),
      'ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State',
    );
  });

  it('heals from DEGRADED by a scale-out, and by no other update', async () => {
    const { cloud, clock } = await inState('DEGRADED', {});
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { minSize: 0, desiredSize: 0 } });
    clock.advance(1.5);
    assert.equal(await statusOf(cloud), 'DEGRADED');
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { desiredSize: 1 } });
    clock.advance(1.5);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.health], ['ACTIVE', { issues: [] }]);
  });

  it('ends as DELETE_FAILED, keeps its nodes and can be deleted again', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    cloud.faults.deleteFailure({ issues });
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assert.equal(await statusOf(cloud), 'DELETE_FAILED');
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assert.equal(await rejection(statusOf(cloud)), 'ResourceNotFoundException: No node group found for name: web.');
    assert.ok([...cloud.state.instances.values()].every(({ state }) => state === 'terminated'));
  });

  it('is replaced by one with another ARN under the same name', async () => {
    const { cloud, clock } = memoryCloud();
    const first = await cloud.send('CreateNodegroup', sampleGroup());
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    const second = await cloud.send('CreateNodegroup', sampleGroup());
    assert.notEqual(first.nodegroup?.nodegroupArn, second.nodegroup?.nodegroupArn);
    clock.advance(3);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });

  it('waits for a cluster that is ACTIVE and not being updated', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.cluster({ status: 'UPDATING' });
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', sampleGroup())),
      "InvalidRequestException: Cluster 'demo' is not in ACTIVE status",
    );
    cloud.faults.cluster({ status: 'ACTIVE', runningUpdate: 'u-1' });
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', sampleGroup())),
      'ResourceInUseException: Cannot create Nodegroup because cluster demo currently has update u-1 in progress',
    );
    cloud.faults.cluster({ runningUpdate: null, exists: false });
    assert.equal(
      await rejection(cloud.send('DescribeNodegroup', group)),
      'ResourceNotFoundException: No cluster found for name: demo.',
    );
  });

  it('counts against the quota of node groups', async () => {
    const { cloud } = memoryCloud({ nodegroupLimit: 1 });
    await cloud.send('CreateNodegroup', sampleGroup());
    assert.match(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ nodegroupName: 'two' }))),
      /^ResourceLimitExceededException/,
    );
  });

  it('comes in ten times faster when time does', async () => {
    const { cloud, clock } = memoryCloud({ speed: 10 });
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(0.3);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });
});
