import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { openPolicy } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

const named = { LaunchTemplateName: 'winpool/demo/web' };
const TAGGED = {
  TagSpecifications: [
    { ResourceType: 'launch-template' as const, Tags: [{ Key: 'winpool.dev/pool', Value: 'web' }] },
    { ResourceType: 'instance' as const, Tags: [{ Key: 'not', Value: 'this' }] },
  ],
};
const data = (VolumeSize: number) => ({
  BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize, VolumeType: 'gp3' as const, Encrypted: true } }],
  MetadataOptions: { HttpTokens: 'required' as const, HttpPutResponseHopLimit: 1 },
  SecurityGroupIds: ['sg-1'],
  TagSpecifications: [{ ResourceType: 'volume' as const, Tags: [{ Key: 'team', Value: 'web' }] }],
});

describe('launch templates that clients create, through the real SDK client', () => {
  const fixture = withOpenCloud();
  const versions = async (request: object = named) => {
    const { LaunchTemplateVersions = [] } = await fixture.sdk.ec2.describeLaunchTemplateVersions(request);
    return LaunchTemplateVersions.map(({ VersionNumber }) => VersionNumber);
  };

  it('have the tags of the request and the version 1', async () => {
    const { LaunchTemplate } = await fixture.sdk.ec2.createLaunchTemplate({
      ...named,
      ...TAGGED,
      LaunchTemplateData: data(100),
      VersionDescription: 'the first',
    });
    assert.deepEqual(
      [LaunchTemplate?.DefaultVersionNumber, LaunchTemplate?.LatestVersionNumber, LaunchTemplate?.Tags],
      [1, 1, [{ Key: 'winpool.dev/pool', Value: 'web' }]],
    );
    const { LaunchTemplateVersions } = await fixture.sdk.ec2.describeLaunchTemplateVersions(named);
    const [version] = LaunchTemplateVersions ?? [];
    assert.deepEqual([version?.LaunchTemplateData, version?.VersionDescription], [data(100), 'the first']);
  });

  it('have a unique name', async () =>
    assertNames(
      await rejection(fixture.sdk.ec2.createLaunchTemplate({ ...named, LaunchTemplateData: data(100) })),
      'InvalidLaunchTemplateName.AlreadyExistsException',
    ));

  it('have a name of at most 125 characters, whatever the API reference says', async () => {
    for (const name of ['a'.repeat(126), 'ab', 'with space'])
      assert.match(
        await rejection(
          fixture.sdk.ec2.createLaunchTemplate({ LaunchTemplateName: name, LaunchTemplateData: { KeyName: 'a' } }),
        ),
        /^InvalidLaunchTemplateName.MalformedException/,
      );
  });

  it('get more versions, with numbers that are not used again', async () => {
    for (const size of [110, 120]) {
      const version = { ...named, LaunchTemplateData: data(size) };
      await fixture.sdk.ec2.createLaunchTemplateVersion(version);
    }
    assert.deepEqual(await versions(), [3, 2, 1]);
    const answer = await fixture.sdk.ec2.deleteLaunchTemplateVersions({ ...named, Versions: ['3', '1', '9'] });
    assert.deepEqual(
      answer.SuccessfullyDeletedLaunchTemplateVersions?.map(({ VersionNumber }) => VersionNumber),
      [3],
    );
    assert.deepEqual(
      answer.UnsuccessfullyDeletedLaunchTemplateVersions?.map(({ VersionNumber, ResponseError }) => [
        VersionNumber,
        ResponseError?.Code,
      ]),
      [
        [1, 'unexpectedError'],
        [9, 'launchTemplateVersionDoesNotExist'],
      ],
    );
    const { LaunchTemplateVersion } = await fixture.sdk.ec2.createLaunchTemplateVersion({
      ...named,
      LaunchTemplateData: data(130),
    });
    assert.equal(LaunchTemplateVersion?.VersionNumber, 4);
  });

  it('are deleted with all their versions', async () => {
    await fixture.sdk.ec2.deleteLaunchTemplate(named);
    assert.match(await rejection(versions()), /^InvalidLaunchTemplateName.NotFoundException/);
    assert.match(await rejection(fixture.sdk.ec2.deleteLaunchTemplate(named)), /NotFoundException/);
  });
});

describe('a client token of EC2', () => {
  const first = { ...named, LaunchTemplateData: data(100), ClientToken: 't-1' };

  it('returns the first response again, and rejects another request', async () => {
    const { cloud } = memoryCloud({ policy: openPolicy });
    const { LaunchTemplate } = await cloud.send('CreateLaunchTemplate', first);
    assert.deepEqual((await cloud.send('CreateLaunchTemplate', first)).LaunchTemplate, LaunchTemplate);
    assert.match(
      await rejection(cloud.send('CreateLaunchTemplate', { ...first, LaunchTemplateData: data(110) })),
      /^IdempotentParameterMismatch/,
    );
    const version = { ...named, LaunchTemplateData: data(110), ClientToken: 't-2' };
    await cloud.send('CreateLaunchTemplateVersion', version);
    await cloud.send('CreateLaunchTemplateVersion', version);
    const [template] = cloud.state.launchTemplates.values();
    assert.equal(template?.versions.length, 2);
  });

  for (const [tokensAfterDelete, count] of [
    ['remembered', 0],
    ['forgotten', 1],
  ] as const) {
    it(`is ${tokensAfterDelete} after the template is deleted, depending on a switch`, async () => {
      const { cloud } = memoryCloud({ policy: openPolicy, switches: { tokensAfterDelete } });
      await cloud.send('CreateLaunchTemplate', first);
      await cloud.send('DeleteLaunchTemplate', named);
      await cloud.send('CreateLaunchTemplate', first);
      assert.equal(cloud.state.launchTemplates.size, count);
    });
  }
});
