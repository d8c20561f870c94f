import assert from 'node:assert/strict';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

describe('launch templates, through the real SDK client', () => {
  const fixture = withOpenCloud();
  let id: string;
  const versions = async (request: object) => {
    const { LaunchTemplateVersions = [] } = await fixture.sdk.ec2.describeLaunchTemplateVersions(request);
    return LaunchTemplateVersions.map(({ VersionNumber }) => VersionNumber);
  };

  before(() => {
    for (const size of ['m5.large', 'm5.xlarge', 'm5.2xlarge'] as const)
      ({ id } = fixture.cloud.faults.launchTemplate({ name: 'windows', data: { InstanceType: size } }));
    fixture.cloud.faults.launchTemplate({ name: 'windows', defaultVersion: 2 });
    fixture.cloud.faults.launchTemplate({ name: 'other', data: {} });
  });

  it('are found by id and by name, with their newest and their default version', async () => {
    for (const request of [{ LaunchTemplateIds: [id] }, { LaunchTemplateNames: ['windows'] }]) {
      const { LaunchTemplates = [] } = await fixture.sdk.ec2.describeLaunchTemplates(request);
      assert.deepEqual(
        LaunchTemplates.map((found) => [
          found.LaunchTemplateId,
          found.LaunchTemplateName,
          found.DefaultVersionNumber,
          found.LatestVersionNumber,
        ]),
        [[id, 'windows', 2, 3]],
      );
    }
    assert.equal((await fixture.sdk.ec2.describeLaunchTemplates({})).LaunchTemplates?.length, 2);
  });

  const rows: readonly (readonly [object, number[]])[] = [
    [{}, [3, 2, 1]],
    [{ Versions: ['$Latest'] }, [3]],
    [{ Versions: ['$Default'] }, [2]],
    [{ Versions: ['1', '$Default'] }, [2, 1]],
    [{ MinVersion: '2' }, [3, 2]],
    [{ MinVersion: '1', MaxVersion: '2' }, [2, 1]],
  ];
  for (const [request, numbers] of rows) {
    it(`have the versions ${numbers} for ${JSON.stringify(request)}`, async () => {
      assert.deepEqual(await versions({ LaunchTemplateName: 'windows', ...request }), numbers);
      assert.deepEqual(await versions({ LaunchTemplateId: id, ...request }), numbers);
    });
  }

  it('return the data of a version', async () => {
    const { LaunchTemplateVersions } = await fixture.sdk.ec2.describeLaunchTemplateVersions({
      LaunchTemplateId: id,
      Versions: ['$Default'],
    });
    const [found] = LaunchTemplateVersions ?? [];
    assert.deepEqual([found?.DefaultVersion, found?.LaunchTemplateData], [true, { InstanceType: 'm5.xlarge' }]);
  });

  it('are not found by unknown names, IDs and numbers', async () => {
    const noName = /^InvalidLaunchTemplateName\.NotFoundException: /;
    const noId = /^InvalidLaunchTemplateId\.NotFound: .*\blt-0\b/;
    const refused: readonly (readonly [Promise<unknown>, RegExp])[] = [
      [versions({ LaunchTemplateName: 'none' }), noName],
      [versions({ LaunchTemplateId: 'lt-0' }), noId],
      [fixture.sdk.ec2.describeLaunchTemplates({ LaunchTemplateNames: ['none'] }), noName],
      [fixture.sdk.ec2.describeLaunchTemplates({ LaunchTemplateIds: ['lt-0'] }), noId],
      [
        versions({ LaunchTemplateId: id, Versions: ['9'] }),
        new RegExp(`^InvalidLaunchTemplateId\\.VersionNotFound: .* version 9 .* ${id}\\.$`),
      ],
    ];
    for (const [promise, error] of refused) assert.match(await rejection(promise), error);
    assert.match(await rejection(versions({})), /^InvalidParameterCombination/);
    assert.match(
      await rejection(versions({ LaunchTemplateId: id, LaunchTemplateName: 'windows' })),
      /^InvalidParameterCombination/,
    );
  });

  it('can be deleted, also single versions', async () => {
    const { faults } = fixture.cloud;
    faults.launchTemplate({ name: 'other', data: {}, defaultVersion: 2 });
    faults.launchTemplate({ name: 'other', deleteVersion: 1 });
    assert.deepEqual(await versions({ LaunchTemplateName: 'other' }), [2]);
    assert.throws(() => faults.launchTemplate({ name: 'other', deleteVersion: 2 }), /can not be deleted/);
    assert.throws(() => faults.launchTemplate({ name: 'other', defaultVersion: 7 }), /has no version 7/);
    assert.throws(() => faults.launchTemplate({ name: 'none' }), /there is no launch template none; give data/);
    assert.throws(() => faults.launchTemplate({ name: 'other', data: { Size: 1 } }), /no member .*Size/);
    faults.launchTemplate({ name: 'other', exists: false });
    assert.match(await rejection(versions({ LaunchTemplateName: 'other' })), /NotFoundException/);
  });
});
