import assert from 'node:assert/strict';
import type { CreateNodegroupRequest, LaunchTemplateSpecification } from '@aws-sdk/client-eks';
import { imageIdFor } from '../ec2/images.ts';
import type { MemoryCloud } from '../memory.ts';
import { clusterSecurityGroupId } from '../network.ts';
import { bootstrapData, openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud, type TestClock } from '../testing/testClock.ts';
import { assertRejected, group, rejection, statusOf } from '../testing/testGroup.ts';

const old = '1.36-2026.03.17';
const release = '1.36-2026.04.18';
const imageId = imageIdFor('WINDOWS_FULL_2019_x86_64', release);
const olderImage = imageIdFor('WINDOWS_FULL_2019_x86_64', old);
const launchTemplate = { name: 'mine' };
const UserData = bootstrapData();

const newWorld = (...versions: readonly object[]): { cloud: MemoryCloud; clock: TestClock } => {
  const made = memoryCloud({ policy: openPolicy });
  for (const data of versions) made.cloud.faults.launchTemplate({ name: 'mine', data });
  return made;
};
const request = (changes: Partial<CreateNodegroupRequest> = {}) =>
  sampleGroup({ launchTemplate, releaseVersion: old, ...changes });
const withoutTemplate = (changes: Partial<CreateNodegroupRequest> = {}): CreateNodegroupRequest => {
  const { amiType: _type, instanceTypes: _types, releaseVersion: _release, ...rest } = request(changes);
  return { ...rest, ...changes };
};
const create = async ({ cloud, clock }: { cloud: MemoryCloud; clock: TestClock }, input: CreateNodegroupRequest) => {
  const { nodegroup } = await cloud.send('CreateNodegroup', input);
  clock.advance(3);
  assert.equal(await statusOf(cloud), 'ACTIVE');
  return nodegroup;
};
const update = (cloud: MemoryCloud, version: string, more = {}) =>
  cloud.send('UpdateNodegroupVersion', { ...group, launchTemplate: { ...launchTemplate, version }, ...more });
const instancesOf = async (cloud: MemoryCloud) => {
  const Filters = [{ Name: 'instance-state-name', Values: ['running'] }];
  const { Reservations = [] } = await cloud.send('DescribeInstances', { Filters });
  return Reservations.flatMap(({ Instances = [] }) => Instances);
};
const ownOf = async (cloud: MemoryCloud) => {
  const Filters = [{ Name: 'tag:eks:nodegroup-name', Values: ['web'] }];
  const { LaunchTemplates: [own] = [] } = await cloud.send('DescribeLaunchTemplates', { Filters });
  return own;
};

/** The operator classifies errors by these words: they are those of AWS. */
const NOT_AUTHORIZED = 'You are not authorized to launch instances with this launch template.';

describe('launch templates that EKS rejects', () => {
  const data: readonly (readonly [string, object, Partial<CreateNodegroupRequest>, RegExp])[] = [
    ['an instance profile', { IamInstanceProfile: { Name: 'p' } }, {}, /template mine.*instance profile/],
    ['a subnet', { NetworkInterfaces: [{ SubnetId: 'subnet-1' }] }, {}, /template mine.*subnet/],
    ['a spot request', { InstanceMarketOptions: { MarketType: 'spot' } }, {}, /template mine.*Spot Instances/],
    ['hibernation', { HibernationOptions: { Configured: true } }, {}, /template mine.*hibernation/],
    ['a shutdown behavior', { InstanceInitiatedShutdownBehavior: 'stop' }, {}, /template mine.*shutdown behavior/],
    [
      'instance types twice',
      { InstanceType: 'm5.large' },
      {},
      /^InvalidRequestException: .*instance types in launch template/,
    ],
    ['an invalid instance type', { InstanceType: 'm5.12xlarge' }, { instanceTypes: [] }, /\[m5\.12xlarge\]/],
    ['an image together with an amiType', { ImageId: imageId }, {}, /AMI Type.*CUSTOM.*image id/],
    [
      'an image together with a version',
      { ImageId: imageId },
      { amiType: 'CUSTOM', version: '1.36' },
      /kubernetesVersion.*custom AMIs/,
    ],
    ['an image together with a release', { ImageId: imageId }, { amiType: 'CUSTOM' }, /releaseVersion.*custom AMIs/],
  ];
  for (const [what, template, changes, error] of data) {
    it(`have ${what}`, async () => {
      const { cloud } = newWorld(template);
      await assertRejected(cloud.send('CreateNodegroup', request(changes)), error);
    });
  }

  const names: readonly (readonly [string, LaunchTemplateSpecification, RegExp])[] = [
    ['both id and name', { id: 'lt-1', name: 'mine' }, /Either provide launch template ID or launch template name/],
    ['neither id nor name', { version: '1' }, /Either provide launch template ID or launch template name/],
    ['an ID that does not exist', { id: 'lt-1' }, /Launch template lt-1 does not exist/],
    ['a name that does not exist', { name: 'yours' }, /Launch template yours does not exist/],
    ['a version that does not exist', { name: 'mine', version: '7' }, /has no version 7/],
  ];
  for (const [what, reference, error] of names) {
    it(`have ${what}`, async () => {
      const { cloud } = newWorld({});
      assert.match(await rejection(cloud.send('CreateNodegroup', request({ launchTemplate: reference }))), error);
    });
  }

  it('have an image that does not exist, or is private', async () => {
    const { cloud } = newWorld({ ImageId: 'ami-1' }, { ImageId: olderImage });
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', withoutTemplate())),
      "InvalidParameterException: The image id '[ami-1]' does not exist",
    );
    cloud.faults.release({ date: '2026.03.17', public: false });
    assert.equal(
      await rejection(
        cloud.send('CreateNodegroup', withoutTemplate({ launchTemplate: { name: 'mine', version: '2' } })),
      ),
      `InvalidRequestException: ${NOT_AUTHORIZED} Not authorized for images: [${olderImage}]`,
    );
  });

  it('cannot be used by a caller without the permission to run instances, with an error that differs each time', async () => {
    const { cloud } = newWorld({});
    cloud.faults.removeAction({ action: 'ec2:RunInstances' });
    const attempt = () => rejection(cloud.send('CreateNodegroup', request()));
    const [first, second] = [await attempt(), await attempt()];
    assert.match(first, /Encoded authorization failure/);
    assert.ok(first.startsWith(`InvalidRequestException: ${NOT_AUTHORIZED}`), first);
    assert.notEqual(first, second);
  });
});

describe('a group with a launch template', () => {
  it('has the number, ID and name of the version for $Latest and $Default', async () => {
    for (const [version, number] of [
      [undefined, '1'],
      ['$Default', '1'],
      ['$Latest', '2'],
      ['2', '2'],
    ] as const) {
      const { cloud, clock } = newWorld({}, {});
      const reference = { ...launchTemplate, ...(version === undefined ? {} : { version }) };
      const nodegroup = await create({ cloud, clock }, request({ launchTemplate: reference }));
      const [template] = cloud.state.launchTemplates.values();
      assert.deepEqual(nodegroup?.launchTemplate, { id: template?.id, name: 'mine', version: number });
      assert.equal(nodegroup?.diskSize, undefined);
    }
  });

  it('launches instances from the template, and labels its nodes with it', async () => {
    const tags = [{ Key: 'team', Value: 'site' }];
    const data = { InstanceType: 'm5.xlarge', TagSpecifications: [{ ResourceType: 'instance', Tags: tags }] };
    const { cloud, clock } = newWorld(data);
    const { instanceTypes: _types, ...input } = request();
    const nodegroup = await create({ cloud, clock }, input);
    assert.equal(nodegroup?.instanceTypes, undefined);
    const [instance] = await instancesOf(cloud);
    assert.equal(instance?.InstanceType, 'm5.xlarge');
    assert.deepEqual(instance?.Tags?.[0], tags[0]);
    const [record] = cloud.state.instances.values();
    assert.equal(record?.nodeLabels['eks.amazonaws.com/sourceLaunchTemplateId'], nodegroup?.launchTemplate?.id);
    assert.equal(record?.nodeLabels['eks.amazonaws.com/sourceLaunchTemplateVersion'], '1');
  });

  it('has nodes only if the security groups of the template include that of the cluster', async () => {
    const { cloud, clock } = newWorld({});
    cloud.faults.securityGroup({ id: 'sg-0a' });
    for (const [SecurityGroupIds, status] of [
      [['sg-0a', clusterSecurityGroupId], 'ACTIVE'],
      [['sg-0a'], 'CREATE_FAILED'],
      [['sg-0b', clusterSecurityGroupId], 'CREATE_FAILED'],
    ] as const) {
      cloud.faults.launchTemplate({ name: 'mine', data: { SecurityGroupIds } });
      await cloud.send('CreateNodegroup', request({ launchTemplate: { name: 'mine', version: '$Latest' } }));
      clock.advance(30);
      assert.equal(await statusOf(cloud), status, String(SecurityGroupIds));
      await cloud.send('DeleteNodegroup', group);
      clock.advance(10);
    }
  });

  it('has no instances if the root volume is smaller than the image', async () => {
    const Ebs = { VolumeSize: 30 };
    const { cloud, clock } = newWorld({ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs }] });
    await cloud.send('CreateNodegroup', request());
    clock.advance(30);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.match(nodegroup?.health?.issues?.[0]?.message ?? '', /Volume of size 30GB is smaller than snapshot/);
  });

  it('has no instances if the disk of a group without a template is smaller than the image, either', async () => {
    const { cloud, clock } = newWorld();
    await cloud.send('CreateNodegroup', sampleGroup({ diskSize: 20 }));
    clock.advance(30);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.match(nodegroup?.health?.issues?.[0]?.message ?? '', /Volume of size 20GB is smaller than snapshot/);
  });

  it('has nodes if a rule of the cluster security group lets those of the template connect', async () => {
    const { cloud, clock } = newWorld({ SecurityGroupIds: ['sg-0a'] });
    cloud.faults.securityGroup({ id: 'sg-0a' });
    const rule = { IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: 'sg-0a' }] };
    cloud.faults.securityGroup({ id: clusterSecurityGroupId, inbound: [rule] });
    await create({ cloud, clock }, request());
  });

  it('is not created, and not updated, with user data for Linux', async () => {
    const linux = { UserData: Buffer.from('#!/bin/bash\n/etc/eks/bootstrap.sh demo\n').toString('base64') };
    const said = 'User data was not a valid PowerShell format and could not be processed.';
    const { cloud, clock } = newWorld({}, linux);
    await cloud.send('CreateNodegroup', request({ launchTemplate: { name: 'mine', version: '2' } }));
    clock.advance(3);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    const issue = { code: 'Ec2LaunchTemplateInvalidConfiguration', message: said };
    assert.deepEqual([nodegroup?.status, nodegroup?.health?.issues], ['CREATE_FAILED', [issue]]);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    await create({ cloud, clock }, request());
    const { update: begun } = await update(cloud, '2');
    clock.advance(3);
    const { update: ended } = await cloud.send('DescribeUpdate', {
      name: 'demo',
      nodegroupName: 'web',
      updateId: begun?.id,
    });
    assert.deepEqual([ended?.status, ended?.errors], ['Failed', [{ errorCode: 'Unknown', errorMessage: said }]]);
  });

  it('has no nodes if its user data ends before that of EKS', async () => {
    for (const command of ['Restart-Computer -Force', 'shutdown /r /t 0', 'exit 3010', 'return']) {
      const text = `<powershell>\n${command}\n</powershell>\n`;
      const { cloud, clock } = newWorld({ UserData: Buffer.from(text).toString('base64') });
      await cloud.send('CreateNodegroup', request());
      clock.advance(30);
      const { nodegroup } = await cloud.send('DescribeNodegroup', group);
      assert.deepEqual(
        [nodegroup?.status, nodegroup?.health?.issues?.[0]?.code],
        ['CREATE_FAILED', 'NodeCreationFailure'],
      );
    }
  });

  it('has the image of the template as its release, for any Windows version', async () => {
    const { cloud, clock } = newWorld({ ImageId: imageId, UserData });
    const nodegroup = await create({ cloud, clock }, withoutTemplate());
    assert.deepEqual([nodegroup?.amiType, nodegroup?.releaseVersion, nodegroup?.version], ['CUSTOM', imageId, '1.36']);
    const [record] = cloud.state.instances.values();
    assert.deepEqual([record?.imageId, record?.kernelVersion], [imageId, '10.0.17763.8644']);
  });

  it('is replaced by another version of the template, and copied into a template of EKS', async () => {
    const { cloud, clock } = newWorld({}, { TagSpecifications: [] });
    await create({ cloud, clock }, request());
    const before = await ownOf(cloud);
    assert.match(before?.LaunchTemplateName ?? '', /^eks-[0-9a-f-]{36}$/);
    const { update: begun } = await update(cloud, '$Latest', { version: '1.36', releaseVersion: old });
    assert.deepEqual(begun?.params?.slice(2), [
      { type: 'LaunchTemplateName', value: 'mine' },
      { type: 'LaunchTemplateVersion', value: '2' },
    ]);
    clock.advance(30);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.launchTemplate?.version], ['ACTIVE', '2']);
    assert.equal((await instancesOf(cloud)).length, 2);
    assert.deepEqual([before?.LatestVersionNumber, (await ownOf(cloud))?.LatestVersionNumber], [1, 2]);
    cloud.faults.launchTemplate({ name: 'mine', exists: false });
    cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 3 } });
    assert.equal((await cloud.send('DescribeNodegroup', group)).nodegroup?.status, 'ACTIVE');
    await cloud.send('DeleteNodegroup', group);
    clock.advance(2);
    assert.equal(await ownOf(cloud), undefined);
  });

  it('keeps the old version when the change fails', async () => {
    const { cloud, clock } = newWorld({}, {});
    await create({ cloud, clock }, request());
    cloud.faults.nextNode({ neverJoins: true });
    await update(cloud, '2');
    clock.advance(60);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.launchTemplate?.version], ['ACTIVE', '1']);
    assert.equal((await ownOf(cloud))?.LatestVersionNumber, 3);
  });

  it('gets the newest release with the template', async () => {
    const { cloud, clock } = newWorld({}, {});
    await create({ cloud, clock }, request());
    await update(cloud, '2');
    clock.advance(30);
    assert.equal((await cloud.send('DescribeNodegroup', group)).nodegroup?.releaseVersion, release);
  });

  it('with an image changes it only with another template version', async () => {
    const { cloud, clock } = newWorld({ ImageId: olderImage, UserData }, { ImageId: imageId, UserData }, {});
    await create({ cloud, clock }, withoutTemplate());
    const refused: readonly (readonly [Promise<unknown>, RegExp])[] = [
      [cloud.send('UpdateNodegroupVersion', group), /Launch template details can't be null for Custom ami type/],
      [update(cloud, '2', { version: '1.36' }), /You cannot specify the field kubernetesVersion/],
      [update(cloud, '2', { releaseVersion: release }), /You cannot specify the field releaseVersion/],
      [update(cloud, '3'), /between an image of EKS and one of its launch template/],
    ];
    for (const [promise, error] of refused) assert.match(await rejection(promise), error);
    await update(cloud, '2');
    clock.advance(30);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.amiType, nodegroup?.releaseVersion], ['CUSTOM', imageId]);
    assert.ok((await instancesOf(cloud)).every(({ ImageId }) => ImageId === imageId));
  });

  it('cannot change to another template, or get one later', async () => {
    const { cloud, clock } = newWorld({});
    cloud.faults.launchTemplate({ name: 'other', data: {} });
    await create({ cloud, clock }, request());
    const other = { ...group, launchTemplate: { name: 'other' } };
    assert.match(await rejection(cloud.send('UpdateNodegroupVersion', other)), /launch template .* can't change/);
    const bare = { clusterName: 'demo', nodegroupName: 'bare' };
    await cloud.send('CreateNodegroup', sampleGroup({ nodegroupName: 'bare' }));
    clock.advance(3);
    assert.match(
      await rejection(cloud.send('UpdateNodegroupVersion', { ...bare, launchTemplate })),
      /was not created with a launch template/,
    );
  });
});
