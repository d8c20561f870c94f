import assert from 'node:assert/strict';
import { sampleCluster, sampleGroup } from './fixtures.ts';
import type { MemoryCloud } from './memory.ts';
import type { Switches } from './switches.ts';
import { memoryCloud, type TestClock } from './testClock.ts';

const group = { clusterName: sampleCluster.name, nodegroupName: 'web' };
const issues = [{ code: 'NodeCreationFailure' as const, message: 'it failed', resourceIds: ['i-1'] }];
const errors = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'it failed', resourceIds: ['i-1'] }];

const statusOf = async (cloud: MemoryCloud): Promise<string | undefined> =>
  (await cloud.send('DescribeNodegroup', group)).nodegroup?.status;

const rejection = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'accepted', String);

async function active(cloud: MemoryCloud, clock: TestClock): Promise<void> {
  await cloud.send('CreateNodegroup', sampleGroup());
  clock.advance(3);
  assert.equal(await statusOf(cloud), 'ACTIVE');
}

async function inState(status: string, switches: Partial<Switches>): Promise<{ cloud: MemoryCloud; clock: TestClock }> {
  const { cloud, clock } = memoryCloud({ switches });
  if (status === 'CREATE_FAILED') cloud.faults.createFailure({ issues });
  await cloud.send('CreateNodegroup', sampleGroup());
  if (status !== 'CREATING') clock.advance(3);
  if (status === 'UPDATING') await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } });
  if (status === 'DEGRADED') {
    await statusOf(cloud);
    cloud.faults.healthIssue({ group: 'web', issues });
  }
  if (status === 'DELETING') await cloud.send('DeleteNodegroup', group);
  assert.equal(await statusOf(cloud), status);
  return { cloud, clock };
}

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
    const { cloud, clock } = memoryCloud();
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

describe('switches', () => {
  const rows: readonly (readonly [keyof Switches, string, string, string, (cloud: MemoryCloud) => Promise<unknown>])[] =
    [
      [
        'updatesWhileDegraded',
        'accept',
        'DEGRADED',
        'accepted',
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } }),
      ],
      [
        'updatesWhileDegraded',
        'reject',
        'DEGRADED',
        'ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State',
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } }),
      ],
      ['deleteWhileBusy', 'accept', 'CREATING', 'accepted', (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileBusy',
        'conflict',
        'CREATING',
        'ResourceInUseException: Nodegroup cannot be deleted as it is currently being created',
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      ['deleteWhileBusy', 'accept', 'UPDATING', 'accepted', (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileBusy',
        'conflict',
        'UPDATING',
        'ResourceInUseException: Nodegroup cannot be deleted as it is currently being updated',
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      ['deleteWhileDeleting', 'accept', 'DELETING', 'accepted', (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileDeleting',
        'conflict',
        'DELETING',
        'ResourceInUseException: Nodegroup cannot be deleted as it is currently being deleted',
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      [
        'updatesWithoutChange',
        'accept',
        'ACTIVE',
        'accepted',
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 5 } }),
      ],
      [
        'updatesWithoutChange',
        'reject',
        'ACTIVE',
        'InvalidParameterException: The update changes nothing of the node group',
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 5 } }),
      ],
      [
        'reservedLabels',
        'kubelet',
        'ACTIVE',
        'accepted',
        (cloud) =>
          cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { 'kubernetes.io/x': 'y' } } }),
      ],
      [
        'reservedLabels',
        'reject',
        'ACTIVE',
        'InvalidParameterException: Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]',
        (cloud) =>
          cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { 'kubernetes.io/x': 'y' } } }),
      ],
      [
        'missingUnderTagCondition',
        'notFound',
        'ACTIVE',
        'ResourceNotFoundException: No node group found for name: none.',
        (cloud) => cloud.send('DeleteNodegroup', { ...group, nodegroupName: 'none' }),
      ],
    ];
  for (const [name, value, status, outcome, act] of rows) {
    it(`${name}=${value} answers "${outcome.slice(0, 70)}" while ${status}`, async () => {
      const { cloud } = await inState(status, { [name]: value });
      assert.equal(await rejection(act(cloud)), outcome);
    });
  }

  it('missingUnderTagCondition=denied answers 403 for a group that is not there', async () => {
    const { cloud } = memoryCloud({ switches: { missingUnderTagCondition: 'denied' } });
    assert.match(
      await rejection(cloud.send('DeleteNodegroup', group)),
      /^AccessDeniedException: .*eks:DeleteNodegroup/,
    );
  });

  it('updateOrder decides the order of ListUpdates', async () => {
    for (const [updateOrder, reversed] of [
      ['oldestFirst', false],
      ['newestFirst', true],
    ] as const) {
      const { cloud, clock } = await inState('ACTIVE', { updateOrder });
      const ids: (string | undefined)[] = [];
      for (const maxSize of [6, 7]) {
        ids.push((await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize } })).update?.id);
        clock.advance(2);
      }
      const { updateIds } = await cloud.send('ListUpdates', { name: 'demo', nodegroupName: 'web' });
      assert.deepEqual(updateIds, reversed ? ids.reverse() : ids);
    }
  });

  it('instanceNodegroupTag decides the tags of instances', async () => {
    for (const [instanceNodegroupTag, keys] of [
      ['on', ['aws:autoscaling:groupName', 'eks:cluster-name', 'eks:nodegroup-name']],
      ['off', ['aws:autoscaling:groupName']],
    ] as const) {
      const { cloud } = await inState('ACTIVE', { instanceNodegroupTag });
      const { Reservations } = await cloud.send('DescribeInstances', {});
      assert.deepEqual(
        Reservations?.[0]?.Instances?.[0]?.Tags?.map(({ Key }) => Key),
        keys,
      );
    }
  });

  it('refuses a switch or a value that does not exist', () => {
    assert.throws(() => memoryCloud({ switches: { nonsense: 'on' } as never }), /no switch nonsense; there are/);
    assert.throws(
      () => memoryCloud({ switches: { deleteWhileBusy: 'maybe' } as never }),
      /it can be accept or conflict/,
    );
  });
});

describe('client request tokens', () => {
  const clientRequestToken = 'token-1';

  it('give the same answer for the same request, and create once', async () => {
    const { cloud, clock } = memoryCloud();
    const first = await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    clock.advance(10);
    const second = await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    assert.deepEqual(second.nodegroup, first.nodegroup);
    assert.equal(cloud.state.groups.size, 1);
  });

  it('are refused for another request', async () => {
    const { cloud } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken, diskSize: 99 }))),
      'InvalidRequestException: Client request token token-1 was used with other parameters before',
    );
  });

  it('are not used up by a request that failed', async () => {
    const { cloud } = memoryCloud();
    assert.match(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken, diskSize: 0 }))),
      /diskSize/,
    );
    assert.ok(await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken })));
  });

  it('repeat an update while it runs, instead of a conflict', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    const request = { ...group, scalingConfig: { maxSize: 6 }, clientRequestToken };
    const first = await cloud.send('UpdateNodegroupConfig', request);
    assert.deepEqual((await cloud.send('UpdateNodegroupConfig', request)).update, first.update);
    assert.equal(cloud.state.updates.size, 1);
  });

  it('outlive their group or are forgotten with it, as the switch says', async () => {
    for (const [tokensAfterDelete, groups] of [
      ['remembered', 0],
      ['forgotten', 1],
    ] as const) {
      const { cloud, clock } = memoryCloud({ switches: { tokensAfterDelete } });
      await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
      await cloud.send('DeleteNodegroup', group);
      clock.advance(2);
      await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
      assert.equal(cloud.state.groups.size, groups, tokensAfterDelete);
    }
  });
});
