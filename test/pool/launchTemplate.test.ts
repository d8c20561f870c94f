import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { creationsOf, poolManifest, settledAtVersion } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const RELEASE = '1.36-2026.04.18';

describe('a launch template', () => {
  const fixture = withOperator('--resync-interval=1s', '--enable-node-group-adoption');
  const template = (name: string, data: object) => fixture.world.cloud.faults.launchTemplate({ name, data });
  const group = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const patch = (name: string, nodeGroup: object) => fixture.world.patchPool(name, { nodeGroup });
  const becomes = (name: string, type: string, state: string) =>
    fixture.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  /** The message of a condition, once it has that state. */
  const messageAt = async (name: string, type: string, state: string) => {
    const pool = await becomes(name, type, state);
    return pool?.status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
  };
  const sent = (operation: string, name: string) =>
    fixture.world.cloud
      .calls()
      .filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name)
      .filter((call) => call.operation === operation)
      .map(({ input }) => {
        const { clusterName, nodegroupName, clientRequestToken, ...change } = input as Record<string, unknown>;
        return change;
      });
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

    it('is only reported in another version with policy Manual', async () => {
      template(NAME, { InstanceType: 'm5.large' });
      assertNames(
        await messageAt(POOL, 'UpToDate', 'False/UpdateAvailable'),
        `Node group ${POOL}`,
        `version 2 of launch template ${NAME}`,
        '$Latest is version 3',
        'nodeGroup.launchTemplate.version: 3',
      );
      assert.deepEqual(sent('UpdateNodegroupVersion', POOL), []);
    });

    it('is updated with policy Automatic: every node is replaced, and the release stays the same', async () => {
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

    it('is not updated to a version that EKS would reject', async () => {
      template(NAME, { InstanceType: 'm5.large', InstanceInitiatedShutdownBehavior: 'stop' });
      assertNames(
        await messageAt(POOL, 'PrerequisitesMet', 'False/LaunchTemplateInvalid'),
        /\bVersion 4 of launch template windows \(lt-[0-9a-f]+\)/,
        'InstanceInitiatedShutdownBehavior (stop)',
      );
      await settledAt(POOL, '3');
      assert.equal(sent('UpdateNodegroupVersion', POOL).length, 1);
    });

    it('changes at once to another version of the spec, and back after an external change', async () => {
      await patch(POOL, { update: { policy: 'Manual' }, launchTemplate: { version: 1 } });
      await settledAt(POOL, '1');
      const record = group(POOL);
      assert.ok(record?.launchTemplate);
      record.launchTemplate.version = '3';
      await waitFor(() => sent('UpdateNodegroupVersion', POOL).length === 3, {
        what: 'the version to be corrected',
        timeoutMs: 10_000,
        explain: () => fixture.operator.tail(),
      });
      await settledAt(POOL, '1');
    });

    it('cannot be replaced or removed', async () => {
      for (const change of [{ launchTemplate: null }, { launchTemplate: { name: 'other' } }])
        await assert.rejects(patch(POOL, change), /EKS cannot change nodeGroup.launchTemplate, only its version/);
    });
  });

  it('is rejected before the creation if EKS would reject it, and used when it is corrected', async () => {
    template('unfit', { ImageId: 'ami-0123456789abcdef0', IamInstanceProfile: { Name: 'nodes' } });
    const launchTemplate = { name: 'unfit', version: '$Latest' };
    const spec = { nodeGroup: { launchTemplate, instanceTypes: ['m5.large'] } };
    await fixture.world.apply(poolManifest('unfit', spec));
    await becomes('unfit', 'Stalled', 'True/LaunchTemplateInvalid');
    const message = await messageAt('unfit', 'PrerequisitesMet', 'False/LaunchTemplateInvalid');
    for (const words of ['IamInstanceProfile (nodes)', 'ImageId (ami-0123456789abcdef0)', 'nodeGroup.nodeRole'])
      assert.ok(message.includes(words), message);
    assert.equal(creationsOf(fixture.world, 'unfit'), 0);
    template('unfit', { MetadataOptions: { HttpTokens: 'required' } });
    await settledAt('unfit', '2');
    assert.equal(creationsOf(fixture.world, 'unfit'), 1);
  });

  it('is reported if it does not exist', async () => {
    const spec = { nodeGroup: { launchTemplate: { name: 'nowhere', version: 3 } } };
    await fixture.world.apply(poolManifest('nowhere', spec));
    await becomes('nowhere', 'Stalled', 'True/LaunchTemplateNotFound');
  });

  it('is kept when its group is adopted, and its version follows the spec', async () => {
    template('legacy', {});
    template('legacy', {});
    const { id } = template('legacy', {});
    const { nodeRole, subnets } = (
      poolManifest('adopted') as { spec: { nodeGroup: { nodeRole: string; subnets: { id: string }[] } } }
    ).spec.nodeGroup;
    fixture.world.cloud.faults.consoleCreate({
      nodegroupName: 'adopted',
      nodeRole,
      subnets: subnets.map((subnet) => subnet.id),
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 1 },
      launchTemplate: { id, version: '1' },
      tags: { 'winpool.dev/adoptable-by': 'adopted' },
    });
    const adopt = (nodeGroup: object) =>
      fixture.world.apply(poolManifest('adopted', { nodeGroup: { adoption: 'IfUnowned', ...nodeGroup } }));
    await adopt({});
    assert.match(
      await messageAt('adopted', 'UpToDate', 'False/ImmutableDifference'),
      new RegExp(`launch template is ${id} \\(expected none\\)`),
    );
    await adopt({ launchTemplate: { id, version: 2 }, instanceTypes: ['m5.large'] });
    await settledAt('adopted', '2');
    assert.deepEqual(group('adopted')?.launchTemplate, { id, name: 'legacy', version: '2' });
  });

  it('is reported if it cannot be read, and the group is created nevertheless', async () => {
    template('unread', { InstanceType: 'm5.large' });
    fixture.world.cloud.faults.removeAction({ action: 'ec2:DescribeLaunchTemplateVersions' });
    try {
      await fixture.world.apply(poolManifest('unread', { nodeGroup: { launchTemplate: { name: 'unread' } } }));
      await becomes('unread', 'Ready', 'True/EnoughNodesVerified');
      assert.match(
        await messageAt('unread', 'PrerequisitesMet', 'Unknown/AccessDenied'),
        /missing permission ec2:DescribeLaunchTemplateVersions/,
      );
    } finally {
      fixture.world.cloud.faults.restoreAction();
    }
  });
});
