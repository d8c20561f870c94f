import assert from 'node:assert/strict';
import { clusterSecurityGroupId } from '../network.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

describe('security groups and the encryption of volumes, through the real SDK client', () => {
  const fixture = withOpenCloud();
  const found = async (request: object) => (await fixture.sdk.ec2.describeSecurityGroups(request)).SecurityGroups ?? [];

  it('the cluster has one, which lets its members reach each other', async () => {
    const { cluster } = await fixture.sdk.eks.describeCluster({ name: fixture.cloud.state.cluster.name });
    assert.equal(cluster?.resourcesVpcConfig?.clusterSecurityGroupId, clusterSecurityGroupId);
    const [group] = await found({ GroupIds: [clusterSecurityGroupId] });
    assert.deepEqual(
      group?.IpPermissions?.map(({ IpProtocol, UserIdGroupPairs: [peer] = [] }) => [IpProtocol, peer?.GroupId]),
      [['-1', clusterSecurityGroupId]],
    );
  });

  it('are changed, created and deleted by faults', async () => {
    const { faults } = fixture.cloud;
    const inbound = [{ IpProtocol: 'tcp', FromPort: 10250, ToPort: 10250, IpRanges: [{ CidrIp: '10.0.0.0/16' }] }];
    faults.securityGroup({ id: 'sg-1', inbound });
    const filters = { Filters: [{ Name: 'group-id', Values: ['sg-1', 'sg-2'] }] };
    const [group, ...others] = await found(filters);
    assert.deepEqual([group?.GroupId, group?.IpPermissions?.[0]?.ToPort, others], ['sg-1', 10250, []]);
    faults.securityGroup({ id: 'sg-1', exists: false });
    assert.deepEqual(await found(filters), []);
    assert.match(await rejection(found({ GroupIds: ['sg-1'] })), /^InvalidGroup\.NotFound/);
    assert.throws(() => faults.securityGroup({ id: 'sg-1', inbound: [{ Port: 1 }] }), /no member .*Port/);
    const own = clusterSecurityGroupId;
    assert.throws(() => faults.securityGroup({ id: own, exists: false }), new RegExp(`${own} is that of the cluster`));
  });

  it('are found by their tags, which changes of rules keep', async () => {
    const { faults } = fixture.cloud;
    faults.securityGroup({ id: 'sg-2', tags: { tier: 'windows' } });
    faults.securityGroup({ id: 'sg-2', outbound: [] });
    const tagged = await found({ Filters: [{ Name: 'tag:tier', Values: ['windows'] }] });
    assert.deepEqual(
      tagged.map(({ GroupId, Tags }) => [GroupId, Tags]),
      [['sg-2', [{ Key: 'tier', Value: 'windows' }]]],
    );
  });

  it('new volumes are encrypted until a fault changes that', async () => {
    const isOn = async () => (await fixture.sdk.ec2.getEbsEncryptionByDefault({})).EbsEncryptionByDefault;
    assert.equal(await isOn(), true);
    fixture.cloud.faults.volumeEncryption({ enabled: false });
    assert.equal(await isOn(), false);
  });
});
