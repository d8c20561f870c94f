/** The port LaunchTemplates on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeLaunchTemplateVersions.html */
import type { LaunchTemplateVersion, ResponseLaunchTemplateData } from '@aws-sdk/client-ec2';
import type { LaunchTemplate, LaunchTemplates } from '../windowspool/ports/prerequisites.ts';
import { earlyEndIn, linuxFormatOf } from '../windowspool/ports/userScript.ts';
import type { Ec2Call } from './calls.ts';
import { mapped, unlessGone } from './results.ts';

export function createLaunchTemplates(ec2: Ec2Call): LaunchTemplates {
  return {
    find: async ({ id, name, version }, signal) => {
      const named = id === undefined ? { LaunchTemplateName: name } : { LaunchTemplateId: id };
      const result = await ec2('DescribeLaunchTemplateVersions', { ...named, Versions: [version] }, signal);
      return mapped(unlessGone(result), (answer) => {
        const [found] = answer?.LaunchTemplateVersions ?? [];
        return found && fromEc2(found);
      });
    },
  };
}

/** Windows: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html#available-ec2-device-names */
const ROOT_DEVICE = '/dev/sda1';

function fromEc2({
  LaunchTemplateId: id = '',
  LaunchTemplateName: name = '',
  VersionNumber,
  LaunchTemplateData: data = {},
}: LaunchTemplateVersion): LaunchTemplate {
  return {
    id,
    name,
    version: String(VersionNumber ?? ''),
    instanceType: data.InstanceType,
    ...rootVolumeIn(data),
    ...securityGroupsIn(data),
    ...userDataIn(data),
    ...(data.CpuOptions?.NestedVirtualization === 'enabled' && { isNested: true }),
    forbidden: forbiddenIn(data),
  };
}

function rootVolumeIn({ BlockDeviceMappings = [] }: ResponseLaunchTemplateData): Pick<LaunchTemplate, 'rootVolume'> {
  const volume = BlockDeviceMappings.find(({ DeviceName }) => DeviceName === ROOT_DEVICE)?.Ebs;
  if (!volume) return {};
  const { VolumeSize: sizeGiB, Encrypted: isEncrypted } = volume;
  return {
    rootVolume: { ...(sizeGiB !== undefined && { sizeGiB }), ...(isEncrypted !== undefined && { isEncrypted }) },
  };
}

/** Only what it is: user data can have secrets. EKS does not decompress it. */
function userDataIn({ UserData = '' }: ResponseLaunchTemplateData): Partial<LaunchTemplate> {
  if (UserData === '') return {};
  const text = Buffer.from(UserData, 'base64').toString();
  const format = UserData.startsWith(GZIP) ? 'compressed (gzip)' : linuxFormatOf(text);
  if (format !== undefined) return { hasUserData: true, linuxUserData: format };
  const earlyEnd = earlyEndIn(text);
  return { hasUserData: true, ...(earlyEnd && { earlyEnd }) };
}

/** How gzip begins, in base64. */
const GZIP = 'H4sI';

/** A template names them either for the instance or for its network interfaces. */
function securityGroupsIn({
  SecurityGroupIds: ofInstance = [],
  NetworkInterfaces: interfaces = [],
}: ResponseLaunchTemplateData): Pick<LaunchTemplate, 'securityGroups'> {
  const groups = [...new Set([...ofInstance, ...interfaces.flatMap(({ Groups = [] }) => Groups)])];
  return groups.length > 0 ? { securityGroups: groups.sort() } : {};
}

/** Fields that EKS forbids in a launch template, or that the pool sets. */
function forbiddenIn(data: ResponseLaunchTemplateData): LaunchTemplate['forbidden'] {
  const { IamInstanceProfile: profile, InstanceMarketOptions: market, NetworkInterfaces: interfaces = [] } = data;
  const subnets = interfaces.map(({ SubnetId }) => SubnetId).filter((subnet) => subnet !== undefined);
  const all: readonly (readonly [LaunchTemplate['forbidden'][number]['field'], string | undefined])[] = [
    ['IamInstanceProfile', profile && (profile.Name ?? profile.Arn ?? '')],
    ['SubnetId', subnets.length > 0 ? subnets.join(', ') : undefined],
    ['InstanceMarketOptions', market && (market.MarketType ?? '')],
    ['HibernationOptions', data.HibernationOptions?.Configured ? 'Configured' : undefined],
    ['InstanceInitiatedShutdownBehavior', data.InstanceInitiatedShutdownBehavior],
    ['ImageId', data.ImageId],
  ];
  return all.flatMap(([field, value]) => (value === undefined ? [] : [{ field, value }]));
}
