import assert from 'node:assert/strict';
import { clusterRoleName } from '../network.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

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
