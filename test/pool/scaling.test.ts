import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { setDesiredCapacity } from '../../hack/localaws/ec2/autoScaling.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const PREFIX = 'k8s.io/cluster-autoscaler/node-template/';

describe('a pool without nodes', () => {
  const stage = withOperator('--resync-interval=1s');
  const POOL = 'empty';
  const group = () => stage.world.cloud.state.groups.get(POOL);
  /** What the cluster-autoscaler would read. */
  const reported = () => {
    const tags = group()?.autoScalingTags ?? [];
    const own = tags.filter(({ Key }) => Key?.startsWith(PREFIX));
    return Object.fromEntries(own.map(({ Key = '', Value }) => [Key.slice(PREFIX.length), Value]));
  };
  const tell = (what: string, wanted: Readonly<Record<string, string>>) =>
    waitFor(
      () => {
        const found = reported();
        return isDeepStrictEqual(found, wanted);
      },
      { what, timeoutMs: 60_000, explain: () => `${JSON.stringify(reported())}\n${stage.operator.tail()}` },
    );
  const patch = (spec: object) => stage.world.patchPool(POOL, spec);

  const sent = (name: string) =>
    stage.world.cloud
      .calls()
      .filter(({ operation }) => operation === name)
      .map(({ input }) => {
        const { clusterName, nodegroupName, clientRequestToken, ...change } = input as Record<string, unknown>;
        return change;
      });

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
  const { 'label/tier': _tier, ...UNTIERED } = TAGS;

  it('tells the cluster-autoscaler what its first node would be like', async () => {
    const spec = {
      scaling: { min: 0, max: 3 },
      nodeGroup: { diskSizeGiB: 120 },
      labels: { tier: 'web' },
      verification: { policy: 'Gate' },
      runtimeClass: { manage: false },
    };
    await stage.world.apply(poolManifest(POOL, spec));
    await stage.world.waitForPool(POOL, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/NoNodes');
    await tell('the tags of the scaling group', TAGS);
  });

  it('has its tags put back that somebody took away, and no others', async () => {
    const found = group();
    assert.ok(found);
    found.autoScalingTags = [
      { Key: 'cost', Value: '42' },
      { Key: `${PREFIX}label/rack`, Value: '7' },
    ];
    await tell('the tags to be back', { ...TAGS, 'label/rack': '7' });
    assert.ok(found.autoScalingTags.some(({ Key }) => Key === 'cost'));
    found.autoScalingTags = found.autoScalingTags.filter(({ Key }) => Key !== `${PREFIX}label/rack`);
  });

  it('tells of a label that goes', async () => {
    await patch({ labels: { tier: null } });
    await tell('the label to go', UNTIERED);
  });

  it('settles: AWS is asked for its tags no more than once a look, and written to no more', async () => {
    await stage.world.waitForPool(
      POOL,
      'to be settled',
      (pool) => conditionOf(pool, 'UpToDate') === 'True/AsSpecified',
    );
    stage.world.cloud.resetCalls();
    const count = (name: string) => sent(name).length;
    await waitFor(() => count('DescribeNodegroup') >= 3, { what: 'three looks', timeoutMs: 60_000 });
    assert.ok(count('DescribeAutoScalingGroups') <= count('DescribeNodegroup') + 1);
    assert.deepEqual([count('CreateOrUpdateTags'), count('DeleteTags')], [0, 0]);
  });

  it('grows and shrinks as an autoscaler wishes, and the operator changes nothing', async () => {
    const AutoScalingGroupName = group()?.autoScalingGroup ?? '';
    for (const DesiredCapacity of [2, 0, 3]) {
      setDesiredCapacity(stage.world.cloud.state, { AutoScalingGroupName, DesiredCapacity });
      await stage.world.waitForPool(
        POOL,
        `to have ${DesiredCapacity} nodes`,
        (pool) => pool?.status?.nodes?.desired === DesiredCapacity && pool.status.nodes.verified === DesiredCapacity,
      );
    }
    assert.deepEqual(sent('UpdateNodegroupConfig'), []);
  });

  it('has its size sent with bounds that leave it outside, and tells what EKS does to pods', async () => {
    await patch({ scaling: { max: 2 } });
    await stage.world.waitForPool(POOL, 'to have 2 nodes', (pool) => pool?.status?.nodes?.total === 2);
    const pool = await stage.world.waitForPool(
      POOL,
      'to know that the update ended',
      (found) => found?.status?.nodeGroup?.update?.status === 'Successful',
    );
    assert.deepEqual(sent('UpdateNodegroupConfig'), [{ scalingConfig: { maxSize: 2, desiredSize: 2 } }]);
    assert.equal(
      pool?.status?.nodeGroup?.update?.change,
      'scaling max 2, desired 2 (EKS ends 1 node and ignores PodDisruptionBudgets)',
    );
  });

  it('takes its tags along when it leaves its group, all but the size of the disk', async () => {
    const found = group();
    assert.ok(found);
    found.autoScalingTags = [...found.autoScalingTags, { Key: 'team', Value: 'site' }];
    await patch({ deletionPolicy: 'Retain' });
    await stage.world.kubectl('delete', 'windowspool', POOL, '--timeout=30s');
    const size = { 'resources/ephemeral-storage': '120Gi' };
    const others = found.autoScalingTags.map(({ Key = '' }) => Key).filter((key) => !key.startsWith(PREFIX));
    assert.deepEqual([reported(), others], [size, ['cost', 'team']]);
  });
});
