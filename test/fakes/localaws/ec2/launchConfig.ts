import type { Tag } from '@aws-sdk/client-ec2';
import type { GroupRecord, TemplateUse } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { endsFirst } from './bootstrap.ts';
import { imageIdFor, imageNamed } from './images.ts';
import { addVersion } from './launchTemplates.ts';
import { mergedUserData } from './mergedUserData.ts';
import { WINDOWS_VOLUME_GIB } from './ownImages.ts';

/**
 * What the next instance of a group is launched from: the settings of the group, of its launch template and of its Auto Scaling group, and the
 * target of a rollout.
 */
export interface LaunchConfig {
  readonly imageId: string;
  /** The Windows version and the release of the image. */
  readonly amiType: string;
  readonly releaseVersion: string;
  readonly instanceTypes: readonly string[];
  readonly tags: readonly Tag[];
  readonly template: TemplateUse['specification'] | undefined;
  /** That of the template, in base64, if the template has the image, so that EKS adds nothing to it. */
  readonly ownUserData: string | undefined;
  /** Whether the user data ends before instances join. */
  readonly endsFirst: boolean;
  /** Whether the template has the image. */
  readonly isCustom: boolean;
  /** Those of the template; empty: EKS uses that of the cluster. */
  readonly securityGroups: readonly string[];
  /** The size of the root volume, of the template or of the group, in GiB; undefined: that of the image. */
  readonly rootVolumeGiB: number | undefined;
  /** The size of the root volume in the image, in GiB. */
  readonly imageGiB: number;
}

const ROOT_DEVICE = '/dev/sda1';

// EKS' default if neither the request nor the template has a type: API reference of CreateNodegroup.
const defaultType = 't3.medium';

/** The launch configuration of a group as of now. */
export function launchConfigOf(cloud: LocalAwsState, group: GroupRecord): LaunchConfig {
  const {
    amiType = '',
    releaseVersion = '',
    instanceTypes = [defaultType],
  } = { ...group.nodegroup, ...group.rollout?.target };
  const template = group.rollout?.template ?? group.template;
  const {
    ImageId,
    UserData,
    InstanceType,
    TagSpecifications = [],
    SecurityGroupIds = [],
    NetworkInterfaces = [],
    BlockDeviceMappings = [],
  } = template?.data ?? {};
  const propagated = group.autoScalingTags.filter(({ PropagateAtLaunch }) => PropagateAtLaunch === true);
  const image = ImageId === undefined ? undefined : imageNamed(cloud, ImageId);
  return {
    imageId: ImageId ?? imageIdFor(amiType, releaseVersion),
    amiType: image?.amiType ?? amiType,
    releaseVersion: image?.releaseVersion ?? releaseVersion,
    instanceTypes: InstanceType === undefined ? instanceTypes : [InstanceType],
    tags: [
      ...TagSpecifications.filter(({ ResourceType }) => ResourceType === 'instance').flatMap(({ Tags = [] }) => Tags),
      ...propagated.map(({ Key, Value }) => ({ Key, Value })),
    ],
    template: template?.specification,
    isCustom: ImageId !== undefined,
    endsFirst: endsFirst(UserData),
    ownUserData: ImageId === undefined ? undefined : UserData,
    securityGroups: [...SecurityGroupIds, ...NetworkInterfaces.flatMap(({ Groups = [] }) => Groups)],
    rootVolumeGiB:
      BlockDeviceMappings.find(({ DeviceName }) => DeviceName === ROOT_DEVICE)?.Ebs?.VolumeSize ??
      group.nodegroup.diskSize,
    imageGiB: cloud.ownImages.get(ImageId ?? '')?.rootVolumeGiB ?? WINDOWS_VOLUME_GIB,
  };
}

/** EKS copies what a group is launched from into a template of its own, `eks-<uuid>`: a version for each change. */
export function copyTemplate(cloud: LocalAwsState, group: GroupRecord): void {
  const { imageId, tags } = launchConfigOf(cloud, group);
  const source = (group.rollout?.template ?? group.template)?.data;
  const uuid = group.nodegroup.nodegroupArn?.split('/').at(-1);
  const ownTags = [
    { Key: 'eks:cluster-name', Value: cloud.cluster.name },
    { Key: 'eks:nodegroup-name', Value: group.name },
  ];
  const data = {
    ...source,
    ImageId: imageId,
    UserData: source?.ImageId === undefined ? mergedUserData(cloud, source?.UserData) : source.UserData,
    TagSpecifications: [
      { ResourceType: 'instance' as const, Tags: [...tags, ...ownTags] },
      ...(source?.TagSpecifications ?? []).filter(({ ResourceType }) => ResourceType !== 'instance'),
    ],
  };
  addVersion(cloud, `eks-${uuid}`, data, { group: group.name });
}
