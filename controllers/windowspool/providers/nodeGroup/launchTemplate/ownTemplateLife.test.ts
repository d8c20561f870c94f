/** The life of a launch template that the operator creates, on the local AWS in memory. */

import assert from 'node:assert/strict';
import { clusterSecurityGroupId } from '../../../../../test/fakes/localaws/network.ts';
import type { StateOptions } from '../../../../../test/fakes/localaws/state.ts';
import type { Deps } from '../../../reconcile.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import {
  NEXT,
  RELEASE,
  type SpecChange,
  SUBNETS,
  sampleError,
  sampleGroup,
  samplePool,
} from '../../../testing/fixtures.ts';
import { assertBrief, assertBriefs, assertMentions } from '../../../testing/goldenTexts.ts';
import { BY_TAGS, DISK_100, DISK_200, TEMPLATE_NAME } from '../../../testing/launchSettingsScenes.ts';
import { conditionOf, fresh, hours, openFailure, ready, retry, stateOf, until, wake } from '../../../testing/life.ts';
import { HASHED } from '../../../testing/replacementScenes.ts';

const WRITES = /^(?:Create|Delete|Update|Modify)(?:LaunchTemplate|Nodegroup)/;

/** The spec of a pool that sets these launch settings. */
function spec(launchSettings: object, rest: SpecChange = {}): SpecChange {
  return { ...rest, nodeGroup: { diskSizeGiB: undefined, ...launchSettings, ...rest.nodeGroup } } as SpecChange;
}

/** The templates of the operator, with their version numbers. */
function templates({ cloud }: FakeWorld) {
  return [...cloud.state.launchTemplates.values()]
    .filter(({ group }) => group === undefined)
    .map(({ name, versions }) => `${name} ${versions.map(({ number }) => number)}`);
}

/** The calls since the last time that change launch templates and node groups. */
function writes(world: FakeWorld): string[] {
  return world.calls.splice(0).filter((call) => WRITES.test(call));
}

function change(world: FakeWorld, launchSettings: object, rest: SpecChange = {}): void {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  const { nodeGroup, ...others } = samplePool(spec(launchSettings, rest)).spec;
  world.apply({ ...pool, spec: { ...pool.spec, ...others, nodeGroup } });
}

const isReady = (world: FakeWorld) => () => ready(world) === 'True';
const upToDate = (world: FakeWorld) => conditionOf(world, 'UpToDate')?.startsWith('True') === true;
const hasVersion = (world: FakeWorld, version: string) => () =>
  world.groups.get('web')?.launchTemplate?.version === version && upToDate(world);
const isGone = (world: FakeWorld) => () => world.pools.size === 0;

/** A world with a Ready pool that sets these launch settings. */
async function launchSettingsWorld(
  launchSettings: object = DISK_100,
  rest: SpecChange = {},
  options: Partial<StateOptions> = {},
) {
  const world = new FakeWorld(options);
  world.apply(fresh(spec(launchSettings, rest)));
  const deps = world.start();
  await until(world, deps, isReady(world), 'a pool that is Ready');
  return { world, deps };
}

/** The answers of EKS when the cluster does not exist. */
function withoutCluster(call: string) {
  const message = 'No cluster found for name: prod.';
  return /^Describe(?:Cluster|Nodegroup)$/.test(call) ? sampleError('gone', { message }) : undefined;
}

/** The data of a version of the template. */
function dataOf({ cloud }: FakeWorld, number: number) {
  const template = [...cloud.state.launchTemplates.values()].find(({ name }) => name === TEMPLATE_NAME);
  return template?.versions.find((version) => version.number === number)?.data;
}

describe('a pool that sets launch settings', () => {
  it('gets a launch template with secure defaults, and then a group from its first version', async () => {
    const { world } = await launchSettingsWorld({ instanceTags: { team: 'web' } });
    const Tags = [{ Key: 'team', Value: 'web' }];
    assert.deepEqual(dataOf(world, 1), {
      BlockDeviceMappings: [
        {
          DeviceName: '/dev/sda1',
          Ebs: { VolumeSize: 50, VolumeType: 'gp3', DeleteOnTermination: true, Encrypted: true },
        },
      ],
      MetadataOptions: { HttpEndpoint: 'enabled', HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
      TagSpecifications: [
        { ResourceType: 'instance', Tags },
        { ResourceType: 'volume', Tags },
      ],
    });
    assert.deepEqual(writes(world), ['CreateLaunchTemplate', 'CreateNodegroup']);
    const [template] = world.cloud.state.launchTemplates.values();
    assert.deepEqual(template?.tags, { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' });
    const group = world.groups.get('web');
    assert.deepEqual(
      [group?.launchTemplate, group?.diskSizeGiB, group?.instanceTypes],
      [{ id: template?.id, name: TEMPLATE_NAME, version: '1' }, undefined, ['m5.large']],
    );
    assert.deepEqual(stateOf(world)?.launchTemplate, { ...group?.launchTemplate, desiredVersion: '1' });
    const [instance] = world.cloud.state.instances.values();
    assert.deepEqual(instance?.tags, Tags);
    assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
  });

  it('shows the size of its disk to the cluster-autoscaler, also after it changed', async () => {
    const { world, deps } = await launchSettingsWorld();
    const size = () => world.scalingTags()['k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage'];
    assert.equal(size(), '100Gi');
    change(world, DISK_200);
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.equal(size(), '200Gi');
  });

  it('adds its security groups to that of the cluster, without which nodes do not join', async () => {
    const world = new FakeWorld();
    world.cloud.faults.securityGroup({ id: 'sg-0a000000' });
    world.apply(fresh(spec({ securityGroups: [{ id: 'sg-0a000000' }] })));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    assert.deepEqual(dataOf(world, 1)?.SecurityGroupIds, ['sg-0a000000', clusterSecurityGroupId]);
  });

  it('is created once, also when EC2 shows what was created only later', async () => {
    const world = new FakeWorld();
    world.cloud.faults.staleReads({ seconds: 5 });
    world.apply(fresh(spec(DISK_100)));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    change(world, DISK_200);
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.deepEqual(templates(world), [`${TEMPLATE_NAME} 1,2`]);
    assert.equal(world.created, 1);
  });

  it('has no template if the launch settings are removed from the spec before the group is created', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    world.apply(fresh(spec(DISK_100)));
    const deps = world.start();
    await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the rejection');
    assert.deepEqual(templates(world), [`${TEMPLATE_NAME} 1`]);
    world.fails = () => undefined;
    change(world, { diskSizeGiB: 60 });
    await until(world, deps, isReady(world), 'a pool that is Ready');
    assert.deepEqual([templates(world), world.groups.get('web')?.diskSizeGiB], [[], 60]);
    await hours(world, deps, 1);
    assert.equal(world.pools.get('web')?.status?.tracking?.ownTemplate, undefined);
  });
});

describe('a change of the launch settings', () => {
  it('is another version, and a rolling update to it, of which events and status say what changes', async () => {
    const { world, deps } = await launchSettingsWorld();
    writes(world);
    world.events.splice(0);
    change(world, DISK_200);
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.deepEqual(writes(world), ['CreateLaunchTemplateVersion', 'UpdateNodegroupVersion']);
    const { id } = world.groups.get('web')?.launchTemplate ?? {};
    const messages = world.events.map(({ reason, message }) => `${reason}: ${message}`);
    assertBriefs(messages.slice(0, 2), [
      ['LaunchTemplateVersionCreated', 'version 2', TEMPLATE_NAME, 'disk.sizeGiB 100 -> 200'],
      ['NodeGroupUpdated', 'web', '1.36-2026.02.11', 'version 2', `${id}`],
    ]);
    assert.equal(stateOf(world)?.launchTemplate?.desiredVersion, '2');
  });

  it('uses a former version again, and keeps few versions', async () => {
    const { world, deps } = await launchSettingsWorld();
    for (const [launchSettings, version] of [
      [DISK_200, '2'],
      [{ instanceTags: { team: 'web' } }, '3'],
      [{ instanceTags: { team: 'db' } }, '4'],
      [DISK_100, '1'],
    ] as const) {
      change(world, launchSettings);
      await until(world, deps, hasVersion(world, version), `version ${version}`);
    }
    // The default, which is that of the group, and the newest.
    await hours(world, deps, 1);
    assert.deepEqual(templates(world), [`${TEMPLATE_NAME} 1,4`]);
  }).timeout(20_000);

  it('that fails is not repeated until the spec or the annotation changes', async () => {
    const { world, deps } = await launchSettingsWorld();
    world.cloud.faults.updateFailure({ errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'They failed.' }] });
    change(world, DISK_200);
    await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the failure');
    writes(world);
    await hours(world, deps, 2);
    assert.deepEqual([writes(world), templates(world)], [[], [`${TEMPLATE_NAME} 1,2`]]);
    const message = conditionOf(world, 'UpToDate') ?? '';
    assertBrief(message, 'False UpdateFailed', 'disk.sizeGiB', '100', '200', 'NodeCreation');
    retry(world, '1');
    await until(world, deps, hasVersion(world, '2'), 'the second version');
  }).timeout(20_000);

  for (const call of ['DescribeLaunchTemplates', 'DescribeLaunchTemplateVersions']) {
    it(`waits while AWS denies ${call}, which the status shows at once`, async () => {
      const { world, deps } = await launchSettingsWorld();
      writes(world);
      world.fails = (name) => (name === call ? sampleError('denied') : undefined);
      change(world, DISK_200);
      await wake(world, deps);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', new RegExp(`^False AccessDenied: AWS denied ${call}`));
      assert.match(conditionOf(world, 'UpToDate') ?? '', /disk\.sizeGiB is unknown \(expected 200\)/);
      await hours(world, deps, 1);
      assert.deepEqual(writes(world), []);
      world.fails = () => undefined;
      await until(world, deps, hasVersion(world, '2'), 'the second version');
    });
  }

  it('is taken back while its update failed', async () => {
    const { world, deps } = await launchSettingsWorld();
    world.cloud.faults.updateFailure({ errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'They failed.' }] });
    change(world, DISK_200);
    await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the failure');
    writes(world);
    change(world, DISK_100);
    await until(world, deps, () => upToDate(world), 'a pool that is up to date');
    assert.deepEqual([writes(world), openFailure(stateOf(world))], [[], undefined]);
  });

  it('that another client made in EKS is reverted', async () => {
    const { world, deps } = await launchSettingsWorld();
    change(world, DISK_200);
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    const { id = '' } = world.groups.get('web')?.launchTemplate ?? {};
    await world.cloud.send('UpdateNodegroupVersion', {
      clusterName: 'prod',
      nodegroupName: 'web',
      version: '1.36',
      releaseVersion: '1.36-2026.02.11',
      launchTemplate: { id, version: '1' },
    });
    world.events.splice(0);
    await hours(world, deps, 1);
    assert.equal(hasVersion(world, '2')(), true);
    assertMentions(
      world.events.find(({ reason }) => reason === 'Drifted')?.message,
      'web',
      'disk.sizeGiB',
      '100',
      '200',
    );
  });

  it('to security groups that do not exist yet is a change of the spec when they do, also with policy Manual', async () => {
    const { world, deps } = await launchSettingsWorld();
    change(world, { ...DISK_100, ...BY_TAGS });
    await hours(world, deps, 1);
    assertBrief(conditionOf(world, 'UpToDate'), 'False SecurityGroupNotFound', 'securityGroups', 'tier=windows');
    world.cloud.faults.securityGroup({ id: 'sg-0a000000', tags: { tier: 'windows' } });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
  });

  it('of other security groups with the tags is reported with policy Manual, and followed with Automatic', async () => {
    const world = new FakeWorld();
    const tags = { tier: 'windows' };
    world.cloud.faults.securityGroup({ id: 'sg-0a000000', tags });
    world.apply(fresh(spec(BY_TAGS)));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    world.cloud.faults.securityGroup({ id: 'sg-0b000000', tags });
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'web',
      'sg-0a000000',
      'nodeGroup.securityGroups',
      'sg-0a1b2c3d4e5f60718',
      'sg-0b000000',
      'nodeGroup.update.policy: Automatic',
    );
    change(world, BY_TAGS, { nodeGroup: { update: { policy: 'Automatic' } } });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.deepEqual(dataOf(world, 2)?.SecurityGroupIds, ['sg-0a000000', clusterSecurityGroupId, 'sg-0b000000']);
  });
});

describe("the pool's launch template", () => {
  it('is deleted after the group', async () => {
    const { world, deps } = await launchSettingsWorld();
    writes(world);
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(writes(world), ['DeleteNodegroup', 'DeleteLaunchTemplate']);
    assert.deepEqual(templates(world), []);
  });

  it('is deleted with its pool after the cluster', async () => {
    const { world, deps } = await launchSettingsWorld();
    world.fails = withoutCluster;
    world.nodes = [];
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(templates(world), []);
  });

  it('is deleted with a pool that never found its cluster', async () => {
    const world = new FakeWorld();
    world.fails = withoutCluster;
    world.apply(fresh(spec(DISK_100)));
    const deps = world.start();
    await wake(world, deps);
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
  });

  it('is kept if the group is retained, and used by the next pool that adopts the group', async () => {
    const { world, deps } = await launchSettingsWorld(DISK_100, { deletionPolicy: 'Retain' });
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(templates(world), [`${TEMPLATE_NAME} 1`]);
    const group = world.cloud.state.group('web');
    group.nodegroup.tags = { 'winpool.dev/adoptable-by': 'web' };
    world.apply(fresh(spec(DISK_100, { nodeGroup: { adoption: 'IfUnowned' } })));
    await until(world, deps, () => upToDate(world), 'the adoption');
    writes(world);
    change(world, DISK_200);
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.deepEqual(writes(world), ['CreateLaunchTemplateVersion', 'UpdateNodegroupVersion']);
  });

  it('keeps the pool until EC2 permits its deletion', async () => {
    const { world, deps } = await launchSettingsWorld();
    world.cloud.faults.removeAction({ action: 'ec2:DeleteLaunchTemplate' });
    world.remove('web');
    await until(
      world,
      deps,
      () => conditionOf(world, 'PrerequisitesMet')?.startsWith('False AccessDenied') === true,
      'the denial',
    );
    assertMentions(
      conditionOf(world, 'PrerequisitesMet'),
      'ec2:DeleteLaunchTemplate',
      'config/aws/own-launch-templates.json',
    );
    world.cloud.faults.restoreAction();
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(templates(world), []);
  });

  it('is neither changed nor deleted without its tags, and used when it has them', async () => {
    const world = new FakeWorld();
    world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, data: { KeyName: 'mine' }, tags: { team: 'a' } });
    world.apply(fresh(spec(DISK_100)));
    const deps = world.start();
    await wake(world, deps);
    const [template] = world.cloud.state.launchTemplates.values();
    assertBrief(
      conditionOf(world, 'PrerequisitesMet'),
      'False LaunchTemplateNotOwned',
      TEMPLATE_NAME,
      `${template?.id}`,
      'winpool.dev/pool=web',
      'winpool.dev/usable-by=prod',
      'aws ec2 delete-launch-template',
      'checks.md#launch-template-owner',
    );
    assert.deepEqual(writes(world), []);
    const tags = { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' };
    world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, tags });
    await until(world, deps, isReady(world), 'a pool that is Ready');
    assert.equal(world.groups.get('web')?.launchTemplate?.version, '2');
  });

  it('stays with a deleted pool if it is of another owner', async () => {
    const world = new FakeWorld();
    world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, data: {}, tags: {} });
    world.apply(fresh(spec(DISK_100)));
    const deps = world.start();
    await wake(world, deps);
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual([templates(world), writes(world)], [[`${TEMPLATE_NAME} 1`], []]);
  });

  it('is not recreated when another client deletes it: the group keeps its version', async () => {
    const { world, deps } = await launchSettingsWorld();
    const { id } = world.groups.get('web')?.launchTemplate ?? {};
    world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, exists: false });
    writes(world);
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'PrerequisitesMet'),
      'False LaunchTemplateNotFound',
      TEMPLATE_NAME,
      id ?? 'the launch template of the group',
      'version 1',
      'metadataOptions',
      'securityGroups',
      'instanceTags',
      'userData',
      'nodeGroup.immutableChangePolicy: Replace',
    );
    change(world, DISK_200);
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False LaunchTemplateNotFound',
      'web',
      'disk.sizeGiB',
      '200',
      'PrerequisitesMet',
    );
    assert.deepEqual([writes(world), ready(world)], [[], 'True']);
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
  });

  describe('with a deleted launch template, and replacement Replace', () => {
    const BLUE_GREEN: SpecChange = { nodeGroup: { immutableChangePolicy: 'Replace' } };
    const isReplaced = (world: FakeWorld) => () =>
      stateOf(world)?.name === HASHED && stateOf(world)?.replacement === undefined && upToDate(world);

    async function deletedTemplate() {
      const { world, deps } = await launchSettingsWorld(DISK_100, BLUE_GREEN);
      const { id = '' } = world.groups.get('web')?.launchTemplate ?? {};
      world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, exists: false });
      writes(world);
      return { world, deps, id };
    }

    it('keeps its node group until a setting changes, and then gets a new one from another template', async () => {
      const { world, deps, id } = await deletedTemplate();
      await hours(world, deps, 1);
      assert.deepEqual([writes(world), ready(world)], [[], 'True']);
      assert.equal(
        conditionOf(world, 'PrerequisitesMet')?.startsWith('True MetWithWarnings'),
        true,
        conditionOf(world, 'PrerequisitesMet'),
      );
      const [prerequisite] = world.pools.get('web')?.status?.checks ?? [];
      assertMentions(
        prerequisite?.message,
        TEMPLATE_NAME,
        id,
        'version 1',
        'metadataOptions',
        'securityGroups',
        'instanceTags',
        'userData',
        'nodeGroup.immutableChangePolicy: Replace',
      );
      change(world, DISK_200, BLUE_GREEN);
      await until(world, deps, isReplaced(world), 'a replaced group', 200);
      assert.deepEqual(writes(world).slice(0, 2), ['CreateLaunchTemplate', 'CreateNodegroup']);
      const { launchTemplate } = world.groups.get(HASHED) ?? {};
      assert.deepEqual([[...world.groups.keys()], launchTemplate?.version, ready(world)], [[HASHED], '1', 'True']);
      assert.notEqual(launchTemplate?.id, id);
      change(world, DISK_100, BLUE_GREEN);
      await until(
        world,
        deps,
        () => upToDate(world) && world.groups.get(HASHED)?.launchTemplate?.version === '2',
        'v2',
      );
      assert.deepEqual([...world.groups.keys()], [HASHED]);
    });

    it('is replaced when the setting goes back, and when the status is lost', async () => {
      const { world, deps } = await deletedTemplate();
      change(world, DISK_200, BLUE_GREEN);
      await until(world, deps, () => world.groups.size === 2, 'the new group', 100);
      change(world, DISK_100, BLUE_GREEN);
      const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', pool);
      const restarted = world.start();
      await until(world, restarted, isReplaced(world), 'a replaced group', 200);
      await until(world, restarted, isReady(world), 'a pool that is Ready');
      assert.deepEqual([...world.groups.keys()], [HASHED]);
    });

    it('is not drained the other way round when the status is lost while the template cannot be read', async () => {
      const { world, deps } = await deletedTemplate();
      change(world, DISK_200, BLUE_GREEN);
      const isLeaving = () => stateOf(world)?.replacement?.phase === 'Draining';
      await until(world, deps, isLeaving, 'an old group that is drained', 100);
      const { created } = world;
      const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', pool);
      const restarted = world.start();
      world.fails = (call) => (call === 'DescribeLaunchTemplates' ? sampleError('unavailable') : undefined);
      for (let run = 0; run < 10; run++) await wake(world, restarted);
      world.fails = () => undefined;
      await until(world, restarted, isReplaced(world), 'a replaced group', 200);
      assert.deepEqual([[...world.groups.keys()], world.created], [[HASHED], created]);
    });

    it('gets no canary, which EKS would refuse, and is replaced when a setting changes', async () => {
      const tryingRelease = (releaseVersion: string): SpecChange => ({
        nodeGroup: {
          immutableChangePolicy: 'Replace',
          releaseVersion,
          update: { policy: 'Manual', canary: { nodes: 1, soakDuration: '30m' }, force: false },
        },
      });
      const { world, deps } = await launchSettingsWorld(DISK_100, tryingRelease(RELEASE));
      world.publish(NEXT);
      world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, exists: false });
      change(world, DISK_100, tryingRelease(NEXT));
      writes(world);
      await hours(world, deps, 1);
      assert.deepEqual([writes(world), ready(world), openFailure(stateOf(world))], [[], 'True', undefined]);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False LaunchTemplateNotFound: .* no canary /);
      change(world, DISK_200, tryingRelease(NEXT));
      await until(world, deps, isReplaced(world), 'a replaced group', 200);
      assert.deepEqual([[...world.groups.keys()], world.groups.get(HASHED)?.releaseVersion], [[HASHED], NEXT]);
    });

    it('shows why it is not replaced while another prerequisite is not met', async () => {
      const { world, deps, id } = await deletedTemplate();
      await hours(world, deps, 1);
      for (const subnet of SUBNETS) world.cloud.faults.subnet({ id: subnet, freeAddresses: 0 } as never);
      change(world, DISK_200, BLUE_GREEN);
      await hours(world, deps, 1);
      assertBrief(
        conditionOf(world, 'UpToDate'),
        'False ImmutableDifference',
        'web',
        TEMPLATE_NAME,
        id,
        'disk.sizeGiB',
        '200',
        'free IP addresses',
      );
      assert.deepEqual([writes(world), ready(world)], [[], 'True']);
    });
  });

  it('gets no further version if EC2 returns other launch settings than the operator wrote', async () => {
    const { world, deps } = await launchSettingsWorld();
    const send = world.cloud.send.bind(world.cloud);
    world.cloud.send = (async (operation: string, input: object, signal: AbortSignal) => {
      const answer = (await send(operation as 'DescribeLaunchTemplateVersions', input, signal)) as object;
      if (operation !== 'DescribeLaunchTemplateVersions' || !('LaunchTemplateVersions' in answer)) return answer;
      const versions = answer.LaunchTemplateVersions as { LaunchTemplateData: object }[];
      return {
        ...answer,
        LaunchTemplateVersions: versions.map((version) => ({
          ...version,
          LaunchTemplateData: { ...version.LaunchTemplateData, EbsOptimized: true },
        })),
      };
    }) as typeof world.cloud.send;
    change(world, DISK_200);
    await hours(world, deps, 2);
    assert.deepEqual(templates(world), [`${TEMPLATE_NAME} 1,2`]);
    assertBrief(
      conditionOf(world, 'PrerequisitesMet'),
      'False LaunchTemplateInvalid',
      'winpool/prod/web',
      'EbsOptimized',
    );
  });
});

describe('a group without a launch template', () => {
  it('gets none when its pool sets launch settings: it differs in a field that EKS cannot change', async () => {
    const world = new FakeWorld();
    world.makeGroup(sampleGroup(samplePool(), { tags: { 'winpool.dev/adoptable-by': 'web' } }));
    world.apply(fresh(spec(DISK_100, { nodeGroup: { adoption: 'IfUnowned' } })));
    const deps: Deps = world.start();
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False ImmutableDifference',
      'winpool/prod/web',
      'nodeGroup.immutableChangePolicy: Replace',
    );
    assert.deepEqual([templates(world), stateOf(world)?.differs], [[], true]);
  });

  it('of a pool that does not set launch settings causes no call about launch templates', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    world.remove('web');
    await until(world, deps, isGone(world), 'the deletion');
    assert.deepEqual(
      world.calls.filter((call) => call.includes('LaunchTemplate')),
      [],
    );
  });
});
