/** The port OwnTemplates on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html */
import type {
  RequestLaunchTemplateData as Ec2Data,
  LaunchTemplate,
  LaunchTemplateVersion,
  ResponseLaunchTemplateData,
  Tag,
} from '@aws-sdk/client-ec2';
import { type CallResult, scrub } from '../windowspool/ports/callResult.ts';
import {
  type LaunchSettings,
  type OwnTemplate,
  type OwnTemplates,
  type OwnTemplateVersion,
  withoutDefaults,
} from '../windowspool/ports/ownTemplates.ts';
import type { Ec2Call } from './calls.ts';
import { malformed } from './errors.ts';
import { everyItem } from './pages.ts';
import { done, unlessGone } from './results.ts';
import { tagsOf } from './terms.ts';

/** The root device of Windows instances: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html */
const ROOT_DEVICE = '/dev/sda1';

/** The resources that get the instance tags. */
const TAGGED = ['instance', 'volume'] as const;

export function createOwnTemplates(ec2: Ec2Call): OwnTemplates {
  return {
    find: async (name, signal) => {
      const found = unlessGone(await ec2('DescribeLaunchTemplates', { LaunchTemplateNames: [name] }, signal));
      if (!found.ok) return found;
      const [template] = found.value?.LaunchTemplates ?? [];
      if (!template) return { ok: true, value: undefined };
      const input = { LaunchTemplateId: template.LaunchTemplateId ?? '' };
      const versions = unlessGone(
        await everyItem(ec2, 'DescribeLaunchTemplateVersions', input, signal, ({ LaunchTemplateVersions = [] }) =>
          LaunchTemplateVersions.map(versionFrom),
        ),
      );
      if (!versions.ok) return versions;
      if (!versions.value) return { ok: true, value: undefined };
      return complete('DescribeLaunchTemplates', template, versions.value);
    },
    create: async ({ name, tags, ...written }, token, signal) => {
      const input = {
        LaunchTemplateName: name,
        ...dataOf(written),
        TagSpecifications: [{ ResourceType: 'launch-template' as const, Tags: tagsFrom(tags) }],
        ClientToken: token,
      };
      const result = await ec2('CreateLaunchTemplate', input, signal);
      if (!result.ok) return result;
      return complete('CreateLaunchTemplate', result.value.LaunchTemplate, [{ ...written, version: '1', others: [] }]);
    },
    addVersion: async (id, written, token, signal) => {
      const input = { LaunchTemplateId: id, ...dataOf(written), ClientToken: token };
      const result = await ec2('CreateLaunchTemplateVersion', input, signal);
      if (!result.ok) return result;
      const number = result.value.LaunchTemplateVersion?.VersionNumber;
      if (number === undefined) return { ok: false, error: malformed('CreateLaunchTemplateVersion') };
      return { ok: true, value: { ...written, version: String(number), others: [] } };
    },
    deleteVersions: async (id, versions, signal) => {
      const input = { LaunchTemplateId: id, Versions: [...versions] };
      const result = unlessGone(await ec2('DeleteLaunchTemplateVersions', input, signal));
      if (!result.ok) return result;
      const failed = result.value?.UnsuccessfullyDeletedLaunchTemplateVersions?.find(
        ({ ResponseError }) => !GONE.includes(ResponseError?.Code ?? ''),
      );
      if (!failed) return { ok: true, value: undefined };
      const { VersionNumber = 0, ResponseError: { Code: code = '', Message: text = '' } = {} } = failed;
      const message = `version ${VersionNumber} is not deleted: ${scrub(text || code || 'EC2 gives no reason')}`;
      return { ok: false, error: { kind: 'refused', operation: 'DeleteLaunchTemplateVersions', code, message } };
    },
    delete: async (id, signal) => done(unlessGone(await ec2('DeleteLaunchTemplate', { LaunchTemplateId: id }, signal))),
  };
}

/** The codes of a version that does not exist. */
const GONE = ['launchTemplateVersionDoesNotExist', 'launchTemplateIdDoesNotExist'];

function complete(
  operation: string,
  template: LaunchTemplate | undefined,
  versions: readonly OwnTemplateVersion[],
): CallResult<OwnTemplate> {
  const { LaunchTemplateId: id, LaunchTemplateName: name, DefaultVersionNumber, Tags } = template ?? {};
  if (!id || !name || DefaultVersionNumber === undefined) return { ok: false, error: malformed(operation) };
  const newestFirst = [...versions].sort((a, b) => Number(b.version) - Number(a.version));
  return {
    ok: true,
    value: { id, name, tags: tagsOf(Tags), defaultVersion: String(DefaultVersionNumber), versions: newestFirst },
  };
}

function versionFrom(version: LaunchTemplateVersion): OwnTemplateVersion {
  const { VersionNumber = 0, VersionDescription: description = '', LaunchTemplateData: data = {} } = version;
  const launchSettings = launchSettingsFrom(data);
  return { version: String(VersionNumber), launchSettings, others: othersIn(data), description };
}

function dataOf({ launchSettings, description }: Pick<OwnTemplateVersion, 'launchSettings' | 'description'>) {
  return { LaunchTemplateData: toEc2(launchSettings), VersionDescription: description };
}

function toEc2({
  imageId,
  userData,
  disk,
  httpTokens,
  httpPutResponseHopLimit,
  securityGroups,
  instanceTags,
}: LaunchSettings): Ec2Data {
  const Tags = tagsFrom(instanceTags);
  return {
    ...(imageId !== undefined && { ImageId: imageId }),
    ...(userData !== undefined && { UserData: Buffer.from(userData).toString('base64') }),
    BlockDeviceMappings: [
      {
        DeviceName: ROOT_DEVICE,
        Ebs: {
          VolumeSize: disk.sizeGiB,
          VolumeType: disk.type as NonNullable<
            NonNullable<Ec2Data['BlockDeviceMappings']>[number]['Ebs']
          >['VolumeType'],
          DeleteOnTermination: true,
          // EC2 rejects false for a volume with a snapshot, even an unencrypted one.
          ...(disk.encrypted && { Encrypted: true }),
          ...(disk.kmsKeyID !== undefined && { KmsKeyId: disk.kmsKeyID }),
          ...(disk.iops !== undefined && { Iops: disk.iops }),
          ...(disk.throughput !== undefined && { Throughput: disk.throughput }),
        },
      },
    ],
    MetadataOptions: {
      HttpEndpoint: 'enabled',
      HttpTokens: httpTokens === 'Required' ? 'required' : 'optional',
      HttpPutResponseHopLimit: httpPutResponseHopLimit,
    },
    ...(securityGroups.length > 0 && { SecurityGroupIds: [...securityGroups] }),
    ...(Tags.length > 0 && { TagSpecifications: TAGGED.map((ResourceType) => ({ ResourceType, Tags })) }),
  };
}

/** What the operator writes. The rest is in {@link othersIn}. */
function launchSettingsFrom({
  ImageId: imageId,
  UserData: userData,
  BlockDeviceMappings = [],
  MetadataOptions: metadata = {},
  SecurityGroupIds = [],
  TagSpecifications = [],
}: ResponseLaunchTemplateData): LaunchSettings {
  const ebs = BlockDeviceMappings.find(({ DeviceName }) => DeviceName === ROOT_DEVICE)?.Ebs ?? {};
  const { Tags } = TagSpecifications.find(({ ResourceType }) => ResourceType === 'instance') ?? {};
  return {
    ...(imageId && { imageId }),
    ...(userData && { userData: Buffer.from(userData, 'base64').toString() }),
    disk: withoutDefaults({
      sizeGiB: ebs.VolumeSize ?? 0,
      type: ebs.VolumeType ?? '',
      encrypted: ebs.Encrypted === true,
      ...(ebs.KmsKeyId !== undefined && { kmsKeyID: ebs.KmsKeyId }),
      ...(ebs.Iops !== undefined && { iops: ebs.Iops }),
      ...(ebs.Throughput !== undefined && { throughput: ebs.Throughput }),
    }),
    httpTokens: metadata.HttpTokens === 'required' ? 'Required' : 'Optional',
    httpPutResponseHopLimit: metadata.HttpPutResponseHopLimit ?? 0,
    securityGroups: [...SecurityGroupIds].sort(),
    instanceTags: tagsOf(Tags),
  };
}

/** Members of the data that the operator writes, and Operator, which EC2 may return for every template. */
const WRITTEN: readonly string[] = [
  'ImageId',
  'UserData',
  'BlockDeviceMappings',
  'MetadataOptions',
  'SecurityGroupIds',
  'TagSpecifications',
  'Operator',
] satisfies (keyof ResponseLaunchTemplateData)[];

/** The settings that the operator does not write, by their EC2 names: with them, a version is another client's. */
function othersIn(data: ResponseLaunchTemplateData): string[] {
  const { BlockDeviceMappings: devices = [], MetadataOptions: metadata, TagSpecifications: tagged = [] } = data;
  const members = Object.entries(data).flatMap(([name, value]) =>
    isSet(value) && !WRITTEN.includes(name) ? [name] : [],
  );
  const [root, ...rest] = devices;
  const isDisk = rest.length === 0 && root?.DeviceName === ROOT_DEVICE && root.Ebs?.SnapshotId === undefined;
  const isKept = root?.Ebs?.DeleteOnTermination === false;
  // Instances and volumes have the same tags, and nothing else has any.
  const texts = tagged.map(({ ResourceType = '', Tags = [] }) => `${ResourceType} ${tagText(Tags)}`).sort();
  const [instance] = tagged.filter(({ ResourceType }) => ResourceType === TAGGED[0]);
  const wanted = TAGGED.map((type) => `${type} ${tagText(instance?.Tags ?? [])}`).sort();
  return [
    ...members,
    ...(isDisk && !isKept ? [] : ['BlockDeviceMappings']),
    ...(metadata?.HttpEndpoint === 'disabled' ? ['MetadataOptions.HttpEndpoint'] : []),
    ...(tagged.length === 0 || texts.join('\n') === wanted.join('\n') ? [] : ['TagSpecifications']),
  ];
}

/** Whether a client has set the member: EC2 returns an empty list, or nothing, for what is not set. */
function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

function tagText(tags: readonly Tag[]): string {
  return JSON.stringify(tags.map(({ Key = '', Value = '' }) => [Key, Value]).sort());
}

function tagsFrom(tags: Readonly<Record<string, string>>): Tag[] {
  return Object.entries(tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}
