import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { creationsOf, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const RELEASE = '1.36-2026.04.18';

describe('a launch template', () => {
  const stage = withOperator('--resync-interval=1s');
  const template = (name: string, data: object) => stage.world.cloud.faults.launchTemplate({ name, data });
  const group = (name: string) => stage.world.cloud.state.groups.get(name)?.nodegroup;
  const patch = (name: string, nodeGroup: object) => stage.world.patchPool(name, { nodeGroup });
  const becomes = (name: string, type: string, state: string) =>
    stage.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  /** The message of a condition, once it has that state. */
  const said = async (name: string, type: string, state: string) => {
    const pool = await becomes(name, type, state);
    return pool?.status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
  };
  const sent = (operation: string, name: string) =>
    stage.world.cloud
      .calls()
      .filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name)
      .filter((call) => call.operation === operation)
      .map(({ input }) => {
        const { clusterName, nodegroupName, clientRequestToken, ...change } = input as Record<string, unknown>;
        return change;
      });
  const settledAt = (name: string, version: string) =>
    stage.world.waitForPool(
      name,
      `to have version ${version} of its template and be settled`,
      (pool) =>
        pool?.status?.nodeGroup?.launchTemplate?.version === version &&
        pool.status.nodeGroup.update?.status !== 'InProgress' &&
        conditionOf(pool, 'Ready') === 'True/Verified' &&
        conditionOf(pool, 'UpToDate') === 'True/AsSpecified',
    );

  describe('of a pool', () => {
    const POOL = 'templated';
    const NAME = 'windows';

    it('makes the group in the version that $Latest stands for, and names the nodes’ type', async () => {
      template(NAME, { InstanceType: 'm5.large' });
      template(NAME, { InstanceType: 'm5.xlarge' });
      const launchTemplate = { name: NAME, version: '$Latest' };
      await stage.world.apply(poolManifest(POOL, { nodeGroup: { launchTemplate } }));
      await settledAt(POOL, '2');
      const [{ instanceTypes, diskSize, launchTemplate: asked } = {}] = sent('CreateNodegroup', POOL) as {
        instanceTypes?: unknown;
        diskSize?: unknown;
        launchTemplate?: unknown;
      }[];
      assert.deepEqual([instanceTypes, diskSize, asked], [undefined, undefined, { name: NAME, version: '2' }]);
      const tags = stage.world.cloud.state.groups.get(POOL)?.autoScalingTags ?? [];
      assert.equal(tags.find(({ Key }) => Key?.endsWith('/vpc.amazonaws.com/PrivateIPv4Address'))?.Value, '14');
    });

    it('is only told of in another version with policy Manual', async () => {
      template(NAME, { InstanceType: 'm5.large' });
      assert.equal(
        await said(POOL, 'UpToDate', 'False/UpdateAvailable'),
        `Node group ${POOL}: $Latest of launch template ${NAME} is version 3 now, and the node group has 2. Set spec.nodeGroup.launchTemplate.version: 3, or update.policy: Automatic.`,
      );
      assert.deepEqual(sent('UpdateNodegroupVersion', POOL), []);
    });

    it('is followed with policy Automatic: every node is replaced, and the release stays', async () => {
      await patch(POOL, { update: { policy: 'Automatic' } });
      await settledAt(POOL, '3');
      const launchTemplate = { name: NAME, version: '3' };
      const change = { version: '1.36', releaseVersion: RELEASE, launchTemplate, force: false };
      assert.deepEqual(sent('UpdateNodegroupVersion', POOL), [change]);
      const types = [...stage.world.cloud.state.instances.values()].filter(({ group: of }) => of === POOL);
      assert.deepEqual(
        types.filter(({ state }) => state === 'running').map(({ type }) => type),
        ['m5.large'],
      );
      const { version, wantedVersion } = (await stage.world.pool(POOL))?.status?.nodeGroup?.launchTemplate ?? {};
      assert.deepEqual([version, wantedVersion], ['3', '3']);
    });

    it('is not followed where EKS would not take it', async () => {
      template(NAME, { InstanceType: 'm5.large', InstanceInitiatedShutdownBehavior: 'stop' });
      assert.match(
        await said(POOL, 'PrerequisitesMet', 'False/LaunchTemplateUnfit'),
        /version 4: it sets InstanceInitiatedShutdownBehavior \(stop\)/,
      );
      await settledAt(POOL, '3');
      assert.equal(sent('UpdateNodegroupVersion', POOL).length, 1);
    });

    it('changes at once where the spec says another number, and back where somebody changed it', async () => {
      await patch(POOL, { update: { policy: 'Manual' }, launchTemplate: { version: 1 } });
      await settledAt(POOL, '1');
      const record = group(POOL);
      assert.ok(record?.launchTemplate);
      record.launchTemplate.version = '3';
      await waitFor(() => sent('UpdateNodegroupVersion', POOL).length === 3, {
        what: 'the version to be put right',
        timeoutMs: 10_000,
        explain: () => stage.operator.tail(),
      });
      await settledAt(POOL, '1');
    });

    it('cannot be exchanged or taken away', async () => {
      for (const change of [{ launchTemplate: null }, { launchTemplate: { name: 'other' } }])
        await assert.rejects(patch(POOL, change), /EKS cannot give a node group a launch template/);
    });
  });

  it('that EKS does not take is refused before anything is created, and taken up when it is mended', async () => {
    template('unfit', { ImageId: 'ami-0123456789abcdef0', IamInstanceProfile: { Name: 'nodes' } });
    const launchTemplate = { name: 'unfit', version: '$Latest' };
    const spec = { nodeGroup: { launchTemplate, instanceTypes: ['m5.large'] } };
    await stage.world.apply(poolManifest('unfit', spec));
    await becomes('unfit', 'Stalled', 'True/LaunchTemplateUnfit');
    const message = await said('unfit', 'PrerequisitesMet', 'False/LaunchTemplateUnfit');
    for (const words of ['IamInstanceProfile (nodes)', 'ImageId (ami-0123456789abcdef0)', 'spec.nodeGroup.nodeRoleArn'])
      assert.ok(message.includes(words), message);
    assert.equal(creationsOf(stage.world, 'unfit'), 0);
    template('unfit', { MetadataOptions: { HttpTokens: 'required' } });
    await settledAt('unfit', '2');
    assert.equal(creationsOf(stage.world, 'unfit'), 1);
  });

  it('that does not exist is told of', async () => {
    const spec = { nodeGroup: { launchTemplate: { name: 'nowhere', version: 3 } } };
    await stage.world.apply(poolManifest('nowhere', spec));
    await becomes('nowhere', 'Stalled', 'True/LaunchTemplateNotFound');
  });

  it('of a group that is adopted is kept, and its version follows the spec', async () => {
    template('legacy', {});
    template('legacy', {});
    const { id } = template('legacy', {});
    const { nodeRoleArn, subnets } = (
      poolManifest('adopted') as { spec: { nodeGroup: { nodeRoleArn: string; subnets: { id: string }[] } } }
    ).spec.nodeGroup;
    stage.world.cloud.faults.consoleCreate({
      nodegroupName: 'adopted',
      nodeRole: nodeRoleArn,
      subnets: subnets.map((subnet) => subnet.id),
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 1 },
      launchTemplate: { id, version: '1' },
    });
    const adopt = (nodeGroup: object) =>
      stage.world.apply(poolManifest('adopted', { nodeGroup: { adoption: 'IfUnowned', ...nodeGroup } }));
    await adopt({});
    assert.match(
      await said('adopted', 'UpToDate', 'False/ImmutableDifference'),
      new RegExp(`launch template is ${id} and the spec says none`),
    );
    await adopt({ launchTemplate: { id, version: 2 }, instanceTypes: ['m5.large'] });
    await settledAt('adopted', '2');
    assert.deepEqual(group('adopted')?.launchTemplate, { id, name: 'legacy', version: '2' });
  });

  it('that may not be read is told of, and the group is made all the same', async () => {
    template('unread', { InstanceType: 'm5.large' });
    stage.world.cloud.faults.removeAction({ action: 'ec2:DescribeLaunchTemplateVersions' });
    try {
      await stage.world.apply(poolManifest('unread', { nodeGroup: { launchTemplate: { name: 'unread' } } }));
      await becomes('unread', 'Ready', 'True/Verified');
      assert.match(
        await said('unread', 'PrerequisitesMet', 'Unknown/AccessDenied'),
        /it needs ec2:DescribeLaunchTemplateVersions/,
      );
    } finally {
      stage.world.cloud.faults.restoreAction();
    }
  });
});
