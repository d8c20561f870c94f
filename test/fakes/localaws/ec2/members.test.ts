import assert from 'node:assert/strict';
import { sampleGroup } from '../testing/fixtures.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { addMember, removeMember } from './members.ts';

describe('instances whose nodes a benchmark writes itself', () => {
  const fixture = withOpenCloud({ speed: 1_000, nodeLimit: 1_000 });
  const member = { group: 'web', id: 'i-0aaaaaaaaaaaaaaaa', nodeName: 'ip-10-9-0-1', privateIp: '10.9.0.1' };
  const found = async () => {
    const { AutoScalingGroups = [] } = await fixture.sdk.autoscaling.describeAutoScalingGroups({});
    const [{ Instances = [], DesiredCapacity } = {}] = AutoScalingGroups;
    return [DesiredCapacity, Instances.map(({ InstanceId, LifecycleState }) => `${InstanceId} ${LifecycleState}`)];
  };

  it('are in service in the group, whose size they change, and stay when the group changes', async () => {
    const scalingConfig = { minSize: 0, desiredSize: 0, maxSize: 1_000 };
    await fixture.sdk.eks.createNodegroup({ ...sampleGroup(), nodegroupName: 'web', scalingConfig });
    addMember(fixture.cloud.state, member);
    const one = [1, [`${member.id} InService`]];
    assert.deepEqual(await found(), one);
    fixture.cloud.faults.edit({ group: 'web', labels: { team: 'a' } });
    assert.deepEqual(await found(), one);
    removeMember(fixture.cloud.state, member);
    assert.deepEqual(await found(), [0, []]);
  });
});
