import assert from 'node:assert/strict';
import { clusterRoleName } from '../network.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { active, group, rejection, statusOf } from '../testing/testGroup.ts';

describe('ListAttachedRolePolicies', () => {
  const fixture = withOpenCloud();
  const names = async (RoleName: string) =>
    (await fixture.sdk.iam.listAttachedRolePolicies({ RoleName })).AttachedPolicies?.map(
      ({ PolicyName }) => PolicyName,
    );

  it('returns the policies of the cluster role that an administrator has attached', async () => {
    assert.deepEqual(await names(clusterRoleName), ['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController']);
    fixture.cloud.faults.clusterRolePolicy({ attached: false });
    assert.deepEqual(await names(clusterRoleName), ['AmazonEKSClusterPolicy']);
    fixture.cloud.faults.clusterRolePolicy({ attached: true });
    assert.deepEqual(await names(clusterRoleName), ['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController']);
  });

  it('returns those of a node role, and of no other role', async () => {
    assert.equal((await names('windows-nodes'))?.length, 3);
    await assert.rejects(names('nobody'), { name: 'NoSuchEntityException', $fault: 'client' });
  });

  it('is denied for other roles by the shipped policy', async () => {
    const { cloud } = memoryCloud();
    const list = (RoleName: string) => rejection(cloud.send('ListAttachedRolePolicies', { RoleName }));
    assert.equal(await list(clusterRoleName), 'accepted');
    assert.match(await list('linux-nodes'), /not authorized to perform: iam:ListAttachedRolePolicies/);
  });
});

describe('GetRole', () => {
  it('returns another ID and time for a role that was created again, and no other role', async () => {
    const { cloud, clock } = memoryCloud();
    const role = async () => (await cloud.send('GetRole', { RoleName: 'windows-nodes' })).Role;
    const before = await role();
    clock.advance(5);
    cloud.faults.recreateRole();
    const after = await role();
    assert.deepEqual([before?.Arn === after?.Arn, before?.RoleId === after?.RoleId], [true, false]);
    assert.ok(Number(before?.CreateDate) < Number(after?.CreateDate));
    assert.match(await rejection(cloud.send('GetRole', { RoleName: 'nobody' })), /not authorized/);
  });

  it('shows why nodes do not join: the access entry belongs to the former role', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    clock.advance(5);
    cloud.faults.recreateRole();
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(30);
    assert.equal(await statusOf(cloud), 'CREATE_FAILED');
    cloud.faults.accessEntry({ exists: false });
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    await active(cloud, clock);
  });
});
