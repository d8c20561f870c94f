/** Images that users made from those of EKS, or from something else. */
import type { Image } from '@aws-sdk/client-ec2';
import { accountId } from '../network.ts';
import type { OwnImage } from '../records.ts';
import { amiTypesOf, type Release, releasesOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';

/** A user's change of an image: a new one, other properties, or its deregistration (`exists: false`). */
export interface ImageChange extends Partial<Omit<OwnImage, 'id' | 'createdAt'>> {
  readonly id: string;
  readonly createdAt?: string;
  readonly exists?: boolean;
}

/** Creates or changes the image with that ID: by default of Windows 2022 Core, from the newest release. Throws RangeError. */
export function changeImage(cloud: LocalAwsState, { exists = true, createdAt, ...change }: ImageChange): void {
  const { id, amiType, releaseVersion, state } = change;
  if (!/^ami-[0-9a-f]{8,17}$/.test(id)) throw new RangeError(`image.id is ${id}; give one such as ami-0a000001`);
  if (!exists) {
    cloud.ownImages.delete(id);
    return;
  }
  const releases: readonly Release[] = releasesOf(
    cloud.releases,
    (releaseVersion ?? cloud.clusterState.version).split('-')[0] ?? '',
  );
  const all = amiTypesOf('1.36');
  if (amiType !== undefined && !all.includes(amiType))
    throw new RangeError(`image.amiType is ${amiType}; it can be ${all.join(' or ')}`);
  if (releaseVersion !== undefined && !releases.some((release) => release.releaseVersion === releaseVersion))
    throw new RangeError(`there is no release ${releaseVersion} that image ${id} could be made from`);
  const states = ['available', 'pending', 'disabled', 'failed'];
  if (state !== undefined && !states.includes(state))
    throw new RangeError(`image.state is ${state}; it can be ${states.join(' or ')}`);
  const made = {
    name: id,
    owner: accountId,
    amiType: 'WINDOWS_CORE_2022_x86_64',
    releaseVersion: releases.at(-1)?.releaseVersion ?? '',
    platform: 'windows',
    architecture: 'x86_64',
    state: 'available',
    rootVolumeGiB: WINDOWS_VOLUME_GIB,
    createdAt: cloud.timeline.now(),
  };
  const time = createdAt === undefined ? {} : { createdAt: new Date(createdAt) };
  cloud.ownImages.set(id, { ...made, ...cloud.ownImages.get(id), ...change, ...time });
}

/** The root volume of an EKS-optimized Windows image, in GiB: awslabs/amazon-eks-ami#1142. */
export const WINDOWS_VOLUME_GIB = 50;

/** How EC2 describes the root volume of an image. */
export const rootVolumeOf = (sizeGiB: number): Pick<Image, 'RootDeviceName' | 'BlockDeviceMappings'> => ({
  RootDeviceName: '/dev/sda1',
  BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: sizeGiB } }],
});

/** EC2's description of such an image. */
export const ownImageOf = (image: OwnImage): Image => ({
  ImageId: image.id,
  Name: image.name,
  OwnerId: image.owner,
  Public: false,
  State: image.state as NonNullable<Image['State']>,
  Architecture: image.architecture as NonNullable<Image['Architecture']>,
  ...rootVolumeOf(image.rootVolumeGiB),
  ...(image.platform === '' ? {} : { Platform: image.platform as NonNullable<Image['Platform']> }),
  CreationDate: image.createdAt.toISOString(),
  ...(image.deprecatedAt === undefined ? {} : { DeprecationTime: image.deprecatedAt }),
});
