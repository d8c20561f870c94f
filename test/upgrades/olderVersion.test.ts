/** A pool that pins a Kubernetes version older than the cluster's before its node group exists, which EKS rejects according to its documentation. */
import assert from 'node:assert/strict';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

describe('a new pool that pins an older Kubernetes version', () => {
  const fixture = withOperator('--resync-interval=1s');
  const pinned = (name: string) => poolManifest(name, { nodeGroup: { kubernetesVersion: '1.35' } });

  it('reports the version that EKS accepts, and gets its group without the pin', async () => {
    const name = 'older-refused';
    await fixture.world.apply(pinned(name));
    const pool = await fixture.world.waitForConditions(name, 'NodeGroupReady=False/CreateRejected');
    assertNames(messageOf(pool, 'NodeGroupReady'), /\bnodeGroup\.kubernetesVersion\b.*\b1\.35\b.*\b1\.36\b/);
    await fixture.world.patchPool(name, { nodeGroup: { kubernetesVersion: null } });
    await fixture.world.waitForReady(name);
    assert.equal(fixture.world.cloud.state.group(name).nodegroup.version, '1.36');
  });

  it('gets a group of that version if EKS accepts it', async () => {
    const name = 'older-accepted';
    const restore = setSwitch(fixture.world, 'olderVersionAtCreation', 'accept');
    try {
      await fixture.world.apply(pinned(name));
      await fixture.world.waitForReady(name);
      assert.equal(fixture.world.cloud.state.group(name).nodegroup.version, '1.35');
    } finally {
      restore();
    }
  });
});
