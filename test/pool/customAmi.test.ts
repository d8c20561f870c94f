import assert from 'node:assert/strict';
import { nodeRoleArn } from '../fakes/localaws/network.ts';
import { poolManifest, settledAtVersion } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

describe('a pool with a custom AMI', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'custom';
  const [FIRST, SECOND] = ['ami-0c00000000000001a', 'ami-0c00000000000002b'];
  const PARAMETER = '/windowspool/golden';

  it('has nodes whose kubelets set all labels and taints, if EKS sets none', async () => {
    const restore = setSwitch(fixture.world, 'settingsOfCustomNodes', 'never');
    const { faults } = fixture.world.cloud;
    for (const id of [FIRST, SECOND]) faults.image({ id });
    faults.parameter({ name: PARAMETER, value: FIRST });
    const manifest = poolManifest(POOL, {
      labels: { team: 'web' },
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      nodeGroup: { ami: { ssmParameter: PARAMETER } },
    });
    await fixture.world.apply(manifest);
    await settledAtVersion(fixture.world, POOL, '1');
    restore();
    const found = await fixture.world.kubectl('get', 'nodes', '-l', `winpool.dev/pool=${POOL}`, '-o', 'json');
    const [node] = JSON.parse(found).items;
    const { labels } = node.metadata;
    assert.deepEqual(
      [labels.team, labels['winpool.dev/pool'], labels['eks.amazonaws.com/nodegroup-image']],
      ['web', POOL, FIRST],
    );
    assert.deepEqual(node.spec.taints.map(({ key }: { key: string }) => key).sort(), ['gpu', 'os']);
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });

  it('reports another AMI in its parameter, and gets it if updates are automatic', async () => {
    fixture.world.cloud.faults.parameter({ name: PARAMETER, value: SECOND });
    await fixture.world.waitForConditions(POOL, 'UpToDate=False/UpdateAvailable');
    await fixture.world.patchPool(POOL, { nodeGroup: { update: { policy: 'Automatic' } } });
    await settledAtVersion(fixture.world, POOL, '2');
    const pool = await fixture.world.pool(POOL);
    assert.equal(pool?.status?.nodeGroup?.releaseVersion, SECOND);
    await fixture.world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
  });
});
