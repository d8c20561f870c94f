import assert from 'node:assert/strict';
import type { ResponseLaunchTemplateData } from '@aws-sdk/client-ec2';
import fc from 'fast-check';
import { memoryCloud } from '../../test/fakes/localaws/testing/testClock.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { type LaunchSettings, withoutDefaults } from '../windowspool/ports/ownTemplates.ts';
import { createOwnTemplates } from './ownTemplates.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();
const NAME = 'winpool/demo/web';
const TAGS = { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'demo' };
const launchSettings: LaunchSettings = {
  disk: { sizeGiB: 100, type: 'gp3', encrypted: true },
  httpTokens: 'Required',
  httpPutResponseHopLimit: 1,
  securityGroups: [],
  instanceTags: {},
};
const first = { name: NAME, tags: TAGS, launchSettings, description: 'the first' };

function over(send: (operation: string, input: object) => Promise<unknown>) {
  return createOwnTemplates(callsOf(send));
}

/** The adapter over the local AWS. */
function world() {
  const { cloud } = memoryCloud();
  const send = (operation: string, input: object) => cloud.send(operation as 'DescribeLaunchTemplates', input, signal);
  return { cloud, templates: over(send) };
}

/** The adapter over an EC2 that throws this. */
function failing(name: string) {
  return over(async () => {
    throw Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: 400 } });
  });
}

function value<T>(result: CallResult<T>): T {
  return result.ok ? result.value : assert.fail(`${result.error.code}: ${result.error.message}`);
}

const anyDisk = fc
  .record(
    {
      sizeGiB: fc.integer({ min: 50, max: 16_384 }),
      type: fc.constantFrom('gp3', 'gp2', 'io1', 'io2'),
      encrypted: fc.boolean(),
      iops: fc.integer({ min: 100, max: 256_000 }),
      throughput: fc.integer({ min: 125, max: 2_000 }),
      kmsKeyID: fc.constantFrom('alias/disks', 'arn:aws:kms:us-west-2:111122223333:key/0a1b'),
    },
    { requiredKeys: ['sizeGiB', 'type', 'encrypted'], noNullPrototype: true },
  )
  .map(withoutDefaults);
const anyLaunchSettings: fc.Arbitrary<LaunchSettings> = fc.record(
  {
    disk: anyDisk,
    httpTokens: fc.constantFrom('Required', 'Optional'),
    httpPutResponseHopLimit: fc.integer({ min: 1, max: 64 }),
    securityGroups: fc.uniqueArray(fc.constantFrom('sg-0a', 'sg-0b', 'sg-0c')).map((ids) => ids.sort()),
    instanceTags: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true }),
    imageId: fc.constantFrom('ami-0a000001', 'ami-0a000002'),
    userData: fc.string({ minLength: 1, unit: 'grapheme' }),
  },
  {
    requiredKeys: ['disk', 'httpTokens', 'httpPutResponseHopLimit', 'securityGroups', 'instanceTags'],
    noNullPrototype: true,
  },
);

describe("the operator's launch template in EC2", () => {
  it('is created with its tags and a first version, and read with all versions, newest first', async () => {
    const { templates } = world();
    assert.deepEqual(await templates.find(NAME, signal), { ok: true, value: undefined });
    const created = value(await templates.create(first, 't-1', signal));
    assert.deepEqual(created, {
      id: created.id,
      name: NAME,
      tags: TAGS,
      defaultVersion: '1',
      versions: [{ version: '1', launchSettings, others: [], description: 'the first' }],
    });
    const larger = {
      launchSettings: { ...launchSettings, disk: { ...launchSettings.disk, sizeGiB: 200 } },
      description: 'the second',
    };
    const added = value(await templates.addVersion(created.id, larger, 't-2', signal));
    assert.deepEqual(added, { ...larger, version: '2', others: [] });
    assert.deepEqual(value(await templates.find(NAME, signal)), { ...created, versions: [added, ...created.versions] });
  });

  it('is returned as it was written, whatever the launch settings', async () => {
    const { templates } = world();
    const { id } = value(await templates.create(first, 't', signal));
    let token = 0;
    await fc.assert(
      fc.asyncProperty(anyLaunchSettings, async (any) => {
        token += 1;
        value(await templates.addVersion(id, { launchSettings: any, description: 'x' }, String(token), signal));
        const [newest] = value(await templates.find(NAME, signal))?.versions ?? [];
        assert.deepEqual([newest?.launchSettings, newest?.others], [any, []]);
      }),
      { numRuns: 30 },
    );
  });

  const foreign: readonly (readonly [ResponseLaunchTemplateData, string])[] = [
    [{ IamInstanceProfile: { Name: 'admin' } }, 'IamInstanceProfile'],
    [{ NetworkInterfaces: [{ SubnetId: 'subnet-1' }] }, 'NetworkInterfaces'],
    [{ KeyName: 'mine' }, 'KeyName'],
    [{ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { SnapshotId: 'snap-1' } }] }, 'BlockDeviceMappings'],
    [{ BlockDeviceMappings: [] }, 'BlockDeviceMappings'],
    [{ BlockDeviceMappings: [{ DeviceName: '/dev/sda1' }, { DeviceName: 'xvdb' }] }, 'BlockDeviceMappings'],
    [
      { BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { DeleteOnTermination: false } }] },
      'BlockDeviceMappings',
    ],
    [{ MetadataOptions: { HttpEndpoint: 'disabled' } }, 'MetadataOptions.HttpEndpoint'],
    [{ TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'a', Value: 'b' }] }] }, 'TagSpecifications'],
  ];
  for (const [data, member] of foreign) {
    it(`shows that another client set ${JSON.stringify(data)}`, async () => {
      const { cloud, templates } = world();
      const root = [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 100, VolumeType: 'gp3' as const } }];
      cloud.faults.launchTemplate({ name: NAME, data: { BlockDeviceMappings: root, ...data } });
      const found = value(await templates.find(NAME, signal));
      assert.deepEqual(found?.versions[0]?.others, [member]);
    });
  }

  it('has versions that EC2 returns with defaults, and they count as what was written', async () => {
    const written = {
      BlockDeviceMappings: [
        {
          DeviceName: '/dev/sda1',
          Ebs: { VolumeSize: 100, VolumeType: 'gp3', Iops: 3000, Throughput: 125, Encrypted: true },
        },
      ],
      MetadataOptions: {
        State: 'applied',
        HttpTokens: 'required',
        HttpPutResponseHopLimit: 1,
        HttpEndpoint: 'enabled',
        HttpProtocolIpv6: 'disabled',
        InstanceMetadataTags: 'disabled',
      },
      SecurityGroupIds: [],
      TagSpecifications: [],
      LicenseSpecifications: [],
      Operator: { Managed: false },
    };
    const template = { LaunchTemplateId: 'lt-1', LaunchTemplateName: NAME, DefaultVersionNumber: 1 };
    const templates = over(async (operation) =>
      operation === 'DescribeLaunchTemplates'
        ? { LaunchTemplates: [template] }
        : { LaunchTemplateVersions: [{ VersionNumber: 1, LaunchTemplateData: written }] },
    );
    const found = value(await templates.find(NAME, signal));
    assert.deepEqual(found?.versions, [{ version: '1', launchSettings, others: [], description: '' }]);
  });

  it('loses the versions that are deleted, and does not miss those that are gone', async () => {
    const { templates } = world();
    const { id } = value(await templates.create(first, 't-1', signal));
    for (const token of ['t-2', 't-3']) value(await templates.addVersion(id, first, token, signal));
    value(await templates.deleteVersions(id, ['2', '7'], signal));
    const found = value(await templates.find(NAME, signal));
    assert.deepEqual(
      found?.versions.map(({ version }) => version),
      ['3', '1'],
    );
    assert.deepEqual(await templates.deleteVersions(id, ['1'], signal), {
      ok: false,
      error: {
        kind: 'refused',
        operation: 'DeleteLaunchTemplateVersions',
        code: 'unexpectedError',
        message: 'version 1 is not deleted: It is the default version',
      },
    });
    value(await templates.delete(id, signal));
    value(await templates.delete(id, signal));
    value(await templates.deleteVersions(id, ['1'], signal));
    assert.equal(value(await templates.find(NAME, signal)), undefined);
  });

  const errors: readonly (readonly [name: string, kind: string])[] = [
    ['InvalidLaunchTemplateName.AlreadyExistsException', 'busy'],
    ['InvalidLaunchTemplateName.MalformedException', 'refused'],
    ['IdempotentParameterMismatch', 'refused'],
    ['UnauthorizedOperation', 'denied'],
    ['RequestLimitExceeded', 'throttled'],
  ];
  for (const [name, kind] of errors) {
    it(`is not created if EC2 returns ${name}, which is ${kind}`, async () => {
      const answer = await failing(name).create(first, 't', signal);
      assert.equal(!answer.ok && answer.error.kind, kind);
    });
  }

  it('is not created if the answer of EC2 has no template', async () => {
    const empty = over(async () => ({}));
    for (const answer of [await empty.create(first, 't', signal), await empty.addVersion('lt-1', first, 't', signal)])
      assert.equal(!answer.ok && answer.error.code, 'MalformedResponse');
  });
});
