/** A pool that pins a Kubernetes version older than the cluster's before its node group exists: EKS is documented to refuse it. */
import assert from 'node:assert/strict';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

describe('a new pool that pins an older Kubernetes version', () => {
  const stage = withOperator('--resync-interval=1s');
  const pinned = (name: string) => poolManifest(name, { nodeGroup: { kubernetesVersion: '1.35' } });

  it('is told which version EKS accepts, and gets its group without the pin', async () => {
    const name = 'older-refused';
    await stage.world.apply(pinned(name));
    const pool = await stage.world.waitForPool(
      name,
      'to report that EKS refused the version',
      (found) => conditionOf(found, 'NodeGroupReady') === 'False/CreateRefused',
    );
    assert.match(
      messageOf(pool, 'NodeGroupReady'),
      /spec\.nodeGroup\.kubernetesVersion pins Kubernetes 1\.35, and the cluster has 1\.36.* Remove the pin, or pin 1\.36/,
    );
    await stage.world.patchPool(name, { nodeGroup: { kubernetesVersion: null } });
    await stage.world.waitForPool(name, 'to be Ready', (found) => conditionOf(found, 'Ready') === 'True/Verified');
    assert.equal(stage.world.cloud.state.group(name).nodegroup.version, '1.36');
  });

  it('gets a group of that version where EKS accepts it', async () => {
    const name = 'older-accepted';
    const restore = setSwitch(stage.world, 'olderVersionAtCreation', 'accept');
    try {
      await stage.world.apply(pinned(name));
      await stage.world.waitForPool(name, 'to be Ready', (found) => conditionOf(found, 'Ready') === 'True/Verified');
      assert.equal(stage.world.cloud.state.group(name).nodegroup.version, '1.35');
    } finally {
      restore();
    }
  });
});
