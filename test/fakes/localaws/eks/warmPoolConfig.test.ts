import assert from 'node:assert/strict';
import type { CreateNodegroupRequest, WarmPoolConfig } from '@aws-sdk/client-eks';
import { imageIdFor } from '../ec2/images.ts';
import type { MemoryCloud } from '../memory.ts';
import type { Switches } from '../switches.ts';
import { openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group, rejection } from '../testing/testGroup.ts';

const configOf = async (cloud: MemoryCloud): Promise<WarmPoolConfig | undefined> =>
  (await cloud.send('DescribeNodegroup', group)).nodegroup?.warmPoolConfig;

async function activeGroup(switches: Partial<Switches> = {}) {
  const { cloud, clock } = memoryCloud({ policy: openPolicy, switches });
  await active(cloud, clock);
  const update = async (warmPoolConfig: WarmPoolConfig) => {
    const { update: started } = await cloud.send('UpdateNodegroupConfig', { ...group, warmPoolConfig });
    clock.advance(2);
    return started?.params?.map(({ type, value }) => `${type} ${value}`);
  };
  return { cloud, update };
}

describe('the settings of a warm pool', () => {
  it('are those of the request and the defaults of EKS', async () => {
    const { cloud } = memoryCloud({ policy: openPolicy });
    await cloud.send('CreateNodegroup', sampleGroup({ warmPoolConfig: { enabled: true, minSize: 1 } }));
    assert.deepEqual(await configOf(cloud), {
      enabled: true,
      minSize: 1,
      poolState: 'STOPPED',
      reuseOnScaleIn: false,
    });
  });

  it('are kept if an update does not name them, and the update lists those that it names', async () => {
    const { cloud, update } = await activeGroup();
    assert.equal(await configOf(cloud), undefined);
    assert.deepEqual(await update({ enabled: true, maxGroupPreparedCapacity: 4, poolState: 'RUNNING' }), [
      'WarmPoolEnabled true',
      'WarmPoolMaxGroupPreparedCapacity 4',
      'WarmPoolState RUNNING',
    ]);
    assert.deepEqual(await update({ minSize: 2, reuseOnScaleIn: true }), [
      'WarmPoolMinSize 2',
      'WarmPoolReuseOnScaleIn true',
    ]);
    assert.deepEqual(await configOf(cloud), {
      enabled: true,
      minSize: 2,
      maxGroupPreparedCapacity: 4,
      poolState: 'RUNNING',
      reuseOnScaleIn: true,
    });
  });

  it('are removed when the warm pool is disabled', async () => {
    const { cloud, update } = await activeGroup();
    await update({ enabled: true });
    await update({ enabled: false });
    assert.equal(await configOf(cloud), undefined);
  });

  const rejected: readonly (readonly [string, Partial<CreateNodegroupRequest>, RegExp])[] = [
    ['a negative size', { warmPoolConfig: { enabled: true, minSize: -1 } }, /minSize/],
    [
      'a minimum above the capacity',
      { warmPoolConfig: { enabled: true, minSize: 3, maxGroupPreparedCapacity: 2 } },
      /minSize 3 can't be greater than maxGroupPreparedCapacity 2$/,
    ],
    [
      'an unknown state',
      { warmPoolConfig: { enabled: true, poolState: 'Stopped' as never } },
      /warmPoolConfig\.poolState: Stopped\b|poolState/,
    ],
    [
      'Spot Instances',
      { warmPoolConfig: { enabled: true }, capacityType: 'SPOT' },
      /Warm pools are not supported for Spot Instances$/,
    ],
  ];
  for (const [what, changes, message] of rejected) {
    it(`are rejected with ${what}`, async () => {
      const { cloud } = memoryCloud({ policy: openPolicy });
      assert.match(await rejection(cloud.send('CreateNodegroup', sampleGroup(changes))), message);
    });
  }

  it('are accepted with Spot Instances, with a switch', async () => {
    const { cloud } = memoryCloud({ policy: openPolicy, switches: { spotWarmPools: 'accept' } });
    const request = sampleGroup({ warmPoolConfig: { enabled: true }, capacityType: 'SPOT' });
    assert.equal(await rejection(cloud.send('CreateNodegroup', request)), 'accepted');
  });

  it('are rejected with a custom AMI, and in updates', async () => {
    const { cloud } = memoryCloud({ policy: openPolicy });
    const ImageId = imageIdFor('WINDOWS_CORE_2022_x86_64', '1.36-2026.04.18');
    const { id, version } = cloud.faults.launchTemplate({ name: 'mine', data: { ImageId } });
    const { amiType: _amiType, ...custom } = sampleGroup({
      warmPoolConfig: { enabled: true },
      launchTemplate: { id, version: String(version) },
    });
    assert.match(await rejection(cloud.send('CreateNodegroup', custom)), /custom AMIs$/);
    const { cloud: other } = await activeGroup();
    const warmPoolConfig = { enabled: true, minSize: 3, maxGroupPreparedCapacity: 2 };
    assert.match(
      await rejection(other.send('UpdateNodegroupConfig', { ...group, warmPoolConfig })),
      /can't be greater/,
    );
  });
});
