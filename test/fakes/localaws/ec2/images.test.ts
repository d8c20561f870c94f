import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { durations } from '../durations.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { active, group, rejection } from '../testing/testGroup.ts';
import { imageIdFor } from './images.ts';

const nameOf = (year: string, edition: string, minor: string) =>
  `/aws/service/ami-windows-latest/Windows_Server-${year}-English-${edition}-EKS_Optimized-${minor}/image_id`;

describe('the images of EKS, through the real SDK clients', () => {
  const fixture = withOpenCloud();
  const newest = async (year = '2022', edition = 'Core', minor = '1.36') =>
    (await fixture.sdk.ssm.getParameter({ Name: nameOf(year, edition, minor) })).Parameter?.Value ?? '';
  const imagesOf = async (...ids: string[]) => (await fixture.sdk.ec2.describeImages({ ImageIds: ids })).Images ?? [];

  it('are one for each Windows version, edition and minor, and the newest of each is found by a parameter', async () => {
    const ids = new Set<string>();
    for (const year of ['2019', '2022', '2025']) {
      for (const edition of ['Core', 'Full']) {
        for (const minor of ['1.35', '1.36']) {
          const id = await newest(year, edition, minor);
          const [image] = await imagesOf(id);
          assert.equal(image?.Name, `Windows_Server-${year}-English-${edition}-EKS_Optimized-${minor}-2026.04.18`);
          ids.add(id);
        }
      }
    }
    assert.equal(ids.size, 12);
  });

  it('are described by another parameter, with their release', async () => {
    const Name = nameOf('2022', 'Core', '1.36').replace('/image_id', '');
    const { Parameter } = await fixture.sdk.ssm.getParameter({ Name });
    const { image_id, release_version } = JSON.parse(Parameter?.Value ?? '');
    assert.deepEqual([image_id, release_version], [await newest(), '1.36-2026.04.18']);
    const { cloud } = memoryCloud({ switches: { releaseParameter: 'missing' } });
    assert.match(await rejection(cloud.send('GetParameter', { Name })), /^ParameterNotFound/);
  });

  it('have the dates of their creation and deprecation, and their properties', async () => {
    const [image] = await imagesOf(await newest());
    const { CreationDate, DeprecationTime, State, Platform, Architecture, Public, ImageOwnerAlias } = image ?? {};
    assert.deepEqual(
      { CreationDate, DeprecationTime, State, Platform, Architecture, Public, ImageOwnerAlias },
      {
        CreationDate: '2026-04-18T00:00:00.000Z',
        DeprecationTime: '2028-04-17T00:00:00.000Z',
        State: 'available',
        Platform: 'windows',
        Architecture: 'x86_64',
        Public: true,
        ImageOwnerAlias: 'amazon',
      },
    );
  });

  it('are found by name and owner, page by page', async () => {
    const { Images = [] } = await fixture.sdk.ec2.describeImages({
      Owners: ['amazon'],
      Filters: [{ Name: 'name', Values: ['Windows_Server-2022-English-Core-EKS_Optimized-1.36-*'] }],
    });
    assert.deepEqual(
      Images.map(({ Name }) => Name?.slice(-10)),
      ['2026.02.17', '2026.03.17', '2026.04.18'],
    );
    assert.deepEqual((await fixture.sdk.ec2.describeImages({ Owners: ['self'] })).Images, []);
    const page = await fixture.sdk.ec2.describeImages({ MaxResults: 5 });
    assert.deepEqual([page.Images?.length, page.NextToken !== undefined], [5, true]);
  });

  const unknown: readonly (readonly [string, string])[] = [
    ['another year', nameOf('2016', 'Core', '1.36')],
    ['a minor that EKS does not support', nameOf('2022', 'Core', '1.12')],
    ['Windows 2025 below 1.35', nameOf('2025', 'Core', '1.34')],
    [
      'the release version, which Windows does not have',
      nameOf('2022', 'Core', '1.36').replace('image_id', 'release_version'),
    ],
  ];
  for (const [what, Name] of unknown) {
    it(`have no parameter for ${what}`, async () => {
      assert.equal(
        await rejection(fixture.sdk.ssm.getParameter({ Name })),
        `ParameterNotFound: Parameter ${Name} not found.`,
      );
    });
  }

  it('do not exist under any other id', async () => {
    assert.equal(
      await rejection(imagesOf('ami-00000000000000000')),
      "InvalidAMIID.NotFound: The image id '[ami-00000000000000000]' does not exist",
    );
  });

  it('are published by EKS, also for only one amiType, and become private after four months', async () => {
    const { faults } = fixture.cloud;
    const before = await newest();
    faults.release({ date: '2026-05-19' });
    const after = await newest();
    assert.notEqual(before, after);
    assert.equal((await imagesOf(after))[0]?.Name?.slice(-15), '1.36-2026-05-19');
    faults.release({ date: '2026.06.16', amiTypes: ['WINDOWS_FULL_2022_x86_64'] });
    assert.equal(await newest(), after);
    assert.equal((await imagesOf(await newest('2022', 'Full')))[0]?.Name?.slice(-15), '1.36-2026.06.16');
    faults.release({ date: '2026.09.15' });
    assert.match(await rejection(imagesOf(before)), /^InvalidAMIID.NotFound/);
    assert.equal((await imagesOf(after)).length, 1);
  });

  it('are published in order, and with a date', () => {
    const { faults } = fixture.cloud;
    assert.throws(() => faults.release({ date: 'tomorrow' }), /release.date is tomorrow; give one such as/);
    assert.throws(() => faults.release({ date: '2020.01.01' }), /a new one must be after/);
  });
});

describe('a group whose image is private', () => {
  it('cannot be created, and keeps its existing nodes', async () => {
    const { cloud, clock } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ releaseVersion: '1.36-2026.02.17' }));
    clock.advance(3);
    await cloud.send('DescribeNodegroup', group);
    cloud.faults.release({ date: '2026.02.17', public: false });
    const [first] = cloud.state.instances.values();
    cloud.faults.terminateInstance({ node: first?.id ?? '' });
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    const [issue] = nodegroup?.health?.issues ?? [];
    assert.deepEqual([nodegroup?.status, issue?.code], ['DEGRADED', 'AsgInstanceLaunchFailures']);
    assert.match(issue?.message ?? '', /Not authorized for images: \[ami-0[0-9a-f]{16}\]/);
    assert.deepEqual(
      [...cloud.state.instances.values()].map(({ state }) => state),
      ['terminated', 'running'],
    );
    const other = sampleGroup({ nodegroupName: 'other', releaseVersion: '1.36-2026.02.17' });
    await cloud.send('CreateNodegroup', other);
    clock.advance(20);
    const described = await cloud.send('DescribeNodegroup', { ...group, nodegroupName: 'other' });
    assert.deepEqual(
      [described.nodegroup?.status, described.nodegroup?.health?.issues?.map(({ code }) => code)],
      ['CREATE_FAILED', ['AsgInstanceLaunchFailures']],
    );
    cloud.faults.release({ date: '2026.02.17', public: true });
    cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 2 } });
    const living = [...cloud.state.instances.values()].filter(({ state }) => state !== 'terminated');
    assert.equal(living.filter(({ group: owner }) => owner === 'web').length, 2);
  });

  it('uses the newest release of its minor by default', async () => {
    const { cloud } = memoryCloud({ switches: { olderVersionAtCreation: 'accept' } });
    const { nodegroup } = await cloud.send('CreateNodegroup', sampleGroup({ version: '1.35' }));
    assert.deepEqual([nodegroup?.version, nodegroup?.releaseVersion], ['1.35', '1.35-2026.04.18']);
  });
});

describe('a new release', () => {
  const present = '1.36-2026.04.18';
  const next = '1.36-2026.05.19';

  it('is in SSM at once, and EKS accepts it later', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    cloud.faults.release({ date: '2026.05.19' });
    const { Parameter } = await cloud.send('GetParameter', { Name: nameOf('2022', 'Core', '1.36') });
    assert.equal(Parameter?.Value, imageIdFor('WINDOWS_CORE_2022_x86_64', next));
    const update = () => cloud.send('UpdateNodegroupVersion', { ...group, version: '1.36', releaseVersion: next });
    assertNames(
      await rejection(update()),
      'InvalidParameterException',
      `release version ${next} is not valid for kubernetes version 1.36`,
    );
    const other = await cloud.send('CreateNodegroup', sampleGroup({ nodegroupName: 'other' }));
    assert.equal(other.nodegroup?.releaseVersion, present);
    clock.advance(durations.releaseLag);
    assert.equal(await rejection(update()), 'accepted');
  });

  it('is in both at once, depending on a switch', async () => {
    const { cloud } = memoryCloud({ switches: { releaseInEks: 'atOnce' } });
    cloud.faults.release({ date: '2026.05.19' });
    const { nodegroup } = await cloud.send('CreateNodegroup', sampleGroup());
    assert.equal(nodegroup?.releaseVersion, next);
  });
});
