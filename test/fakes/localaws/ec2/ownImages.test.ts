import assert from 'node:assert/strict';
import { memoryCloud } from '../testing/testClock.ts';
import { rejection } from '../testing/testGroup.ts';

describe('an image of a user', () => {
  it('is a copy of the newest image of EKS, until it is deregistered', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.image({ id: 'ami-0a000001' });
    const find = () => cloud.send('DescribeImages', { ImageIds: ['ami-0a000001'] });
    const { Images: [image] = [] } = await find();
    assert.deepEqual(
      [image?.Name, image?.State, image?.Platform, image?.Architecture, image?.OwnerId, image?.DeprecationTime],
      ['ami-0a000001', 'available', 'windows', 'x86_64', '111122223333', undefined],
    );
    assert.equal(cloud.state.ownImages.get('ami-0a000001')?.releaseVersion, '1.36-2026.04.18');
    cloud.faults.image({
      id: 'ami-0a000001',
      state: 'disabled',
      platform: '',
      deprecatedAt: '2026-12-01T00:00:00.000Z',
    });
    const { Images: [changed] = [] } = await find();
    assert.deepEqual(
      [changed?.Name, changed?.State, changed?.Platform, changed?.DeprecationTime],
      ['ami-0a000001', 'disabled', undefined, '2026-12-01T00:00:00.000Z'],
    );
    cloud.faults.image({ id: 'ami-0a000001', exists: false });
    assert.match(await rejection(find()), /^InvalidAMIID.NotFound/);
  });

  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ id: 'web' }, /image\.id is web; give one such as ami-0a000001/],
    [{ id: 'ami-0a000001', amiType: 'AL2023' }, /image\.amiType is AL2023; .*WINDOWS_CORE_2019_x86_64/],
    [{ id: 'ami-0a000001', releaseVersion: '1.36-2020.01.01' }, /there is no release 1\.36-2020\.01\.01/],
    [{ id: 'ami-0a000001', state: 'gone' }, /image\.state is gone; it can be available or/],
  ];
  for (const [change, error] of wrong) {
    it(`cannot be ${JSON.stringify(change)}`, () => {
      const { cloud } = memoryCloud();
      assert.throws(() => cloud.faults.image(change as never), error);
    });
  }
});
