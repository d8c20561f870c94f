import assert from 'node:assert/strict';
import { windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withPrerequisites } from './prerequisitesFixture.ts';

describe('a pool whose nodes run no pods', () => {
  const { fixture, is, message, remove } = withPrerequisites('--resync-interval=2s');

  it('that get no addresses checks its prerequisites again, and names the likely cause', async () => {
    await fixture.world.apply(poolManifest('late'));
    await is('late', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.apply(windowsIpam(false));
    await fixture.world.kubectl('scale', 'windowspool', 'late', '--replicas=2');
    await is('late', 'NodesVerified', 'False/NoPodAddresses');
    await is('late', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assertNames(await message('late', 'NodesVerified'), 'Likely cause: WindowsIPAMDisabled');
    await fixture.world.apply(windowsIpam(true));
    await is('late', 'NodesVerified', 'True/AllVerified');
    await is('late', 'PrerequisitesMet', 'True/Met');
    await remove('late');
  });

  for (const controllerWarning of ['Unsupported', 'InsufficientCidrBlocks'] as const) {
    it(`because the VPC resource controller cannot assign addresses quotes its event (${controllerWarning})`, async () => {
      const name = controllerWarning.toLowerCase();
      fixture.world.cloud.faults.nextNode({ group: name, controllerWarning });
      await fixture.world.apply(poolManifest(name));
      await is(name, 'NodesVerified', 'False/NoPodAddresses');
      await fixture.world.waitForPool(name, 'to quote the controller', (pool) =>
        new RegExp(`The VPC resource controller reports ${controllerWarning}: The `).test(
          JSON.stringify(pool?.status?.failingNodes),
        ),
      );
      assert.match(await message(name, 'NodesVerified'), /The VPC resource controller reports /);
      await remove(name);
    });
  }
});
