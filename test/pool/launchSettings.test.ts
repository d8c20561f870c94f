import assert from 'node:assert/strict';
import { callsOf } from '../awsCalls.ts';
import { poolManifest, settledAtVersion } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('a pool that sets launch settings', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'launch-settings';
  const tags = { tier: 'windows' };

  const template = () => {
    const { launchTemplates } = fixture.world.cloud.state;
    return [...launchTemplates.values()].find((each) => each.tags?.['winpool.dev/pool'] === POOL);
  };
  const versions = () => template()?.versions.map(({ number }) => number);
  const settledAt = (version: string) => settledAtVersion(fixture.world, POOL, version);
  const patch = (nodeGroup: object) => fixture.world.patchPool(POOL, { nodeGroup });

  it('gets a launch template, and a group whose instances have its security groups, tags and disk', async () => {
    fixture.world.cloud.faults.securityGroup({ id: 'sg-0b1c000000000000a', tags });
    const launchSettings = { disk: { sizeGiB: 100 }, securityGroups: [{ tags }], instanceTags: { team: 'web' } };
    await fixture.world.apply(poolManifest(POOL, { nodeGroup: launchSettings }));
    await settledAt('1');
    assert.deepEqual(
      [template()?.name, template()?.tags],
      ['winpool/demo/launch-settings', { 'winpool.dev/pool': POOL, 'winpool.dev/usable-by': 'demo' }],
    );
    const { BlockDeviceMappings, MetadataOptions, SecurityGroupIds } = template()?.versions[0]?.data ?? {};
    const disk = { VolumeSize: 100, VolumeType: 'gp3', DeleteOnTermination: true, Encrypted: true };
    assert.deepEqual(BlockDeviceMappings, [{ DeviceName: '/dev/sda1', Ebs: disk }]);
    assert.deepEqual(
      [MetadataOptions?.HttpTokens, MetadataOptions?.HttpPutResponseHopLimit, SecurityGroupIds?.length],
      ['required', 1, 2],
    );
    const instance = [...fixture.world.cloud.state.instances.values()].find(({ group }) => group === POOL);
    assert.deepEqual(instance?.tags, [{ Key: 'team', Value: 'web' }]);
  });

  it('gets a version for each change, by a rolling update, and keeps those in use', async () => {
    await patch({ disk: { sizeGiB: 200 } });
    await settledAt('2');
    await patch({ instanceTags: { team: 'db' } });
    await settledAt('3');
    await fixture.world.waitForPool(POOL, 'to have deleted the version between', () => versions()?.join() === '1,3');
    assert.equal(callsOf(fixture.world, 'UpdateNodegroupVersion', POOL).length, 2);
  });

  it('runs a script from the namespace of the operator, and reports when it changes', async () => {
    const script = (text: string) =>
      fixture.world.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'windows-nodes', namespace: 'winpool-system' },
        data: { 'user-data.ps1': text },
      });
    await patch({ userData: { configMap: 'windows-nodes' } });
    await fixture.world.waitForConditions(POOL, 'PrerequisitesMet=False/UserDataNotFound');
    await script('Write-Host first');
    await settledAt('4');
    const { UserData = '' } = template()?.versions.at(-1)?.data ?? {};
    assert.match(Buffer.from(UserData, 'base64').toString(), /Create\('Write-Host first'\)/);
    await script('Write-Host second');
    await fixture.world.waitForConditions(POOL, 'UpToDate=False/UpdateAvailable');
    await patch({ userData: null });
    await settledAt('5');
    await fixture.world.kubectl('-n', 'winpool-system', 'delete', 'configmap', 'windows-nodes');
  });

  it('leaves no template', async () => {
    await fixture.world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
    assert.equal(template(), undefined);
  });
});
