import assert from 'node:assert/strict';
import { createLaunchTemplates } from './launchTemplates.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

function failing(name: string): Error {
  return Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: 400 } });
}

/** The adapter over an EC2 that returns or throws this. */
function over(answer: unknown) {
  const calls: [string, unknown][] = [];
  const call = async (operation: string, input: unknown) => {
    calls.push([operation, input]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { calls, templates: createLaunchTemplates(callsOf(call)) };
}

const version = (LaunchTemplateData: object) => ({
  LaunchTemplateVersions: [
    { LaunchTemplateId: 'lt-1', LaunchTemplateName: 'windows', VersionNumber: 7, LaunchTemplateData },
  ],
});

describe('a launch template', () => {
  it('is read by ID or by name, in one version', async () => {
    const { calls, templates } = over(version({ InstanceType: 'm5.large', EbsOptimized: true }));
    const found = { id: 'lt-1', name: 'windows', version: '7', instanceType: 'm5.large', forbidden: [] };
    assert.deepEqual(await templates.find({ name: 'windows', version: '$Latest' }, signal), { ok: true, value: found });
    await templates.find({ id: 'lt-1', version: '3' }, signal);
    assert.deepEqual(calls, [
      ['DescribeLaunchTemplateVersions', { LaunchTemplateName: 'windows', Versions: ['$Latest'] }],
      ['DescribeLaunchTemplateVersions', { LaunchTemplateId: 'lt-1', Versions: ['3'] }],
    ]);
  });

  const rows: readonly (readonly [object, string, string])[] = [
    [{ IamInstanceProfile: { Name: 'nodes' } }, 'IamInstanceProfile', 'nodes'],
    [{ IamInstanceProfile: { Arn: 'arn:nodes' } }, 'IamInstanceProfile', 'arn:nodes'],
    [{ NetworkInterfaces: [{}, { SubnetId: 'subnet-1' }] }, 'SubnetId', 'subnet-1'],
    [{ InstanceMarketOptions: { MarketType: 'spot' } }, 'InstanceMarketOptions', 'spot'],
    [{ HibernationOptions: { Configured: true } }, 'HibernationOptions', 'Configured'],
    [{ InstanceInitiatedShutdownBehavior: 'stop' }, 'InstanceInitiatedShutdownBehavior', 'stop'],
    [{ ImageId: 'ami-1' }, 'ImageId', 'ami-1'],
  ];
  for (const [data, field, value] of rows) {
    it(`has settings that EKS rejects: ${JSON.stringify(data)}`, async () => {
      const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
      assert.deepEqual(answer.ok && answer.value?.forbidden, [{ field, value }]);
    });
  }

  const encoded = (text: string) => ({ UserData: Buffer.from(text).toString('base64') });
  for (const [data, want] of [
    [{}, undefined],
    [encoded('<powershell>\nWrite-Host a\n</powershell>'), undefined],
    [encoded('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n'), 'a MIME document'],
    [{ UserData: 'H4sIAAAAAAAAA0sEAEO+t+gBAAAA' }, 'compressed (gzip)'],
  ] as const) {
    it(`has user data that is ${want ?? 'not for Linux'}: ${JSON.stringify(data)}`, async () => {
      const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
      assert.equal(answer.ok && answer.value?.linuxUserData, want);
    });
  }

  it('has the command that ends its user data', async () => {
    const { templates } = over(version(encoded('<powershell>\nexit 0\n</powershell>')));
    const answer = await templates.find({ name: 'windows', version: '7' }, signal);
    assert.deepEqual(answer.ok && answer.value?.earlyEnd, { command: 'exit', line: 2 });
  });

  const mappings = (...Ebs: readonly object[]) => ({
    BlockDeviceMappings: [
      { DeviceName: '/dev/sdb', Ebs: { VolumeSize: 500 } },
      ...Ebs.map((ebs) => ({ DeviceName: '/dev/sda1', Ebs: ebs })),
    ],
  });
  for (const [data, want] of [
    [{}, undefined],
    [mappings(), undefined],
    [mappings({}), {}],
    [mappings({ VolumeSize: 120, Encrypted: true }), { sizeGiB: 120, isEncrypted: true }],
    [mappings({ Encrypted: false }), { isEncrypted: false }],
    [{ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', NoDevice: '' }, {}] }, undefined],
  ] as const) {
    it(`has the root volume of ${JSON.stringify(data)}`, async () => {
      const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
      assert.deepEqual(answer.ok && answer.value?.rootVolume, want);
    });
  }

  for (const [data, want] of [
    [{}, undefined],
    [{ SecurityGroupIds: [] }, undefined],
    [{ SecurityGroupIds: ['sg-2', 'sg-1'] }, ['sg-1', 'sg-2']],
    [{ NetworkInterfaces: [{ Groups: ['sg-1'] }, {}, { Groups: ['sg-1', 'sg-3'] }] }, ['sg-1', 'sg-3']],
  ] as const) {
    it(`has the security groups of ${JSON.stringify(data)}`, async () => {
      const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
      assert.deepEqual(answer.ok && answer.value?.securityGroups, want);
    });
  }

  for (const [data, want] of [
    [{}, undefined],
    [{ CpuOptions: { CoreCount: 2 } }, undefined],
    [{ CpuOptions: { NestedVirtualization: 'disabled' } }, undefined],
    [{ CpuOptions: { NestedVirtualization: 'enabled' } }, true],
  ] as const) {
    it(`enables nested virtualization or not: ${JSON.stringify(data)}`, async () => {
      const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
      assert.equal(answer.ok && answer.value?.isNested, want);
    });
  }

  it('can disable hibernation, and can have interfaces without a subnet', async () => {
    const data = { HibernationOptions: { Configured: false }, NetworkInterfaces: [{ Groups: ['sg-1'] }] };
    const answer = await over(version(data)).templates.find({ name: 'windows', version: '7' }, signal);
    assert.deepEqual(answer.ok && answer.value?.forbidden, []);
  });

  for (const answer of [
    failing('InvalidLaunchTemplateId.NotFound'),
    failing('InvalidLaunchTemplateId.VersionNotFound'),
    failing('InvalidLaunchTemplateName.NotFoundException'),
    { LaunchTemplateVersions: [] },
  ]) {
    it(`is absent if EC2 returns ${answer instanceof Error ? answer.name : 'nothing'}`, async () =>
      assert.deepEqual(await over(answer).templates.find({ id: 'lt-1', version: '3' }, signal), {
        ok: true,
        value: undefined,
      }));
  }

  it('is an error if EC2 denies the call', async () => {
    const answer = await over(failing('UnauthorizedOperation')).templates.find({ id: 'lt-1', version: '3' }, signal);
    assert.equal(!answer.ok && answer.error.kind, 'denied');
  });
});
