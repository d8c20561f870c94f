import assert from 'node:assert/strict';
import { changesIn } from '../awsCalls.ts';
import { poolManifest, settledAtVersion } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const RELEASE = '1.36-2026.04.18';

describe('a launch template', () => {
  const fixture = withOperator('--resync-interval=1s', '--enable-node-group-adoption');
  const template = (name: string, data: object) => fixture.world.cloud.faults.launchTemplate({ name, data });
  const patch = (name: string, nodeGroup: object) => fixture.world.patchPool(name, { nodeGroup });
  const sent = (operation: string, name: string) => changesIn(fixture.world, operation, name);
  const settledAt = (name: string, version: string) => settledAtVersion(fixture.world, name, version);

  describe('of a pool', () => {
    const POOL = 'templated';
    const NAME = 'windows';

    it('is used in the current version of $Latest, and the pool shows the instance type', async () => {
      template(NAME, { InstanceType: 'm5.large' });
      template(NAME, { InstanceType: 'm5.xlarge' });
      const launchTemplate = { name: NAME, version: '$Latest' };
      await fixture.world.apply(poolManifest(POOL, { nodeGroup: { launchTemplate } }));
      await settledAt(POOL, '2');
      const [{ instanceTypes, diskSize, launchTemplate: asked } = {}] = sent('CreateNodegroup', POOL) as {
        instanceTypes?: unknown;
        diskSize?: unknown;
        launchTemplate?: unknown;
      }[];
      assert.deepEqual([instanceTypes, diskSize, asked], [undefined, undefined, { name: NAME, version: '2' }]);
      const tags = fixture.world.cloud.state.groups.get(POOL)?.autoScalingTags ?? [];
      assert.equal(tags.find(({ Key }) => Key?.endsWith('/vpc.amazonaws.com/PrivateIPv4Address'))?.Value, '14');
    });

    it('is updated with policy Automatic: every node is replaced, and the release stays the same', async () => {
      template(NAME, { InstanceType: 'm5.large' });
      await patch(POOL, { update: { policy: 'Automatic' } });
      await settledAt(POOL, '3');
      const launchTemplate = { name: NAME, version: '3' };
      const change = { version: '1.36', releaseVersion: RELEASE, launchTemplate, force: false };
      assert.deepEqual(sent('UpdateNodegroupVersion', POOL), [change]);
      const types = [...fixture.world.cloud.state.instances.values()].filter(({ group: of }) => of === POOL);
      assert.deepEqual(
        types.filter(({ state }) => state === 'running').map(({ type }) => type),
        ['m5.large'],
      );
      const { version, desiredVersion } = (await fixture.world.pool(POOL))?.status?.nodeGroup?.launchTemplate ?? {};
      assert.deepEqual([version, desiredVersion], ['3', '3']);
    });
  });
});
