import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { changesIn } from '../awsCalls.ts';
import { setDesiredCapacity } from '../fakes/localaws/ec2/autoScaling.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const PREFIX = 'k8s.io/cluster-autoscaler/node-template/';

describe('a pool without nodes', () => {
  // Before the hook that waits until there is no RuntimeClass: a retained pool leaves the shared one behind, without an owner.
  after(() => fixture.world?.kubectl('delete', 'runtimeclass', 'windows-2022', '--ignore-not-found'));
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'empty';
  const group = () => fixture.world.cloud.state.groups.get(POOL);
  /** The tags that the cluster-autoscaler would read. */
  const autoscalerTags = () => {
    const tags = group()?.autoScalingTags ?? [];
    const own = tags.filter(({ Key }) => Key?.startsWith(PREFIX));
    return Object.fromEntries(own.map(({ Key = '', Value }) => [Key.slice(PREFIX.length), Value]));
  };
  const waitForTags = (what: string, expected: Readonly<Record<string, string>>) =>
    waitFor(
      () => {
        const found = autoscalerTags();
        return isDeepStrictEqual(found, expected);
      },
      { what, timeoutMs: 60_000, explain: () => `${JSON.stringify(autoscalerTags())}\n${fixture.operator.tail()}` },
    );
  const patch = (spec: object) => fixture.world.patchPool(POOL, spec);

  const sent = (name: string) => changesIn(fixture.world, name);

  const TAGS = {
    'label/kubernetes.io/os': 'windows',
    'label/kubernetes.io/arch': 'amd64',
    'label/node.kubernetes.io/windows-build': '10.0.20348',
    'label/tier': 'web',
    'label/winpool.dev/pool': POOL,
    'label/winpool.dev/windows-build': '10.0.20348',
    'resources/ephemeral-storage': '120Gi',
    'resources/vpc.amazonaws.com/PrivateIPv4Address': '9',
    'taint/os': 'windows:NoSchedule',
    'taint/startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate': ':NoSchedule',
  };

  it('describes its first node to the cluster-autoscaler', async () => {
    const spec = {
      nodeGroup: { diskSizeGiB: 120, scaling: { minSize: 0, maxSize: 3 } },
      labels: { tier: 'web' },
      verification: { policy: 'Gate' },
    };
    await fixture.world.apply(poolManifest(POOL, spec));
    await fixture.world.waitForConditions(POOL, 'Ready=True/NoNodes');
    await waitForTags('the tags of the scaling group', TAGS);
  });

  it('is scaled by an autoscaler, and the operator changes nothing', async () => {
    fixture.world.cloud.resetCalls();
    const AutoScalingGroupName = group()?.autoScalingGroup ?? '';
    for (const DesiredCapacity of [2, 0, 3]) {
      setDesiredCapacity(fixture.world.cloud.state, { AutoScalingGroupName, DesiredCapacity });
      await fixture.world.waitForPool(
        POOL,
        `to have ${DesiredCapacity} nodes`,
        (pool) => pool?.status?.nodes?.desired === DesiredCapacity && pool.status.nodes.verified === DesiredCapacity,
      );
    }
    assert.deepEqual(sent('UpdateNodegroupConfig'), []);
  });

  it('sends its size with bounds that exclude it, and reports the effect on pods', async () => {
    await patch({ nodeGroup: { scaling: { maxSize: 2 } } });
    await fixture.world.waitForPool(POOL, 'to have 2 nodes', (pool) => pool?.status?.nodes?.total === 2);
    const pool = await fixture.world.waitForPool(
      POOL,
      'to know that the update ended',
      (found) => found?.status?.nodeGroup?.update?.status === 'Successful',
    );
    assert.deepEqual(sent('UpdateNodegroupConfig'), [{ scalingConfig: { maxSize: 2, desiredSize: 2 } }]);
    assertNames(pool?.status?.nodeGroup?.update?.change, 'maxSize 2, desiredSize 2', '1 node');
  });

  it('removes its tags when it releases its group, except the size of the disk', async () => {
    const found = group();
    assert.ok(found);
    found.autoScalingTags = [...found.autoScalingTags, { Key: 'team', Value: 'site' }];
    await patch({ deletionPolicy: 'Retain' });
    await fixture.world.kubectl('delete', 'windowspool', POOL, '--timeout=30s');
    const size = { 'resources/ephemeral-storage': '120Gi' };
    const others = found.autoScalingTags.map(({ Key = '' }) => Key).filter((key) => !key.startsWith(PREFIX));
    assert.deepEqual([autoscalerTags(), others], [size, ['team']]);
  });
});
