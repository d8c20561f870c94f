/*
 * The images of EKS: one for each release and amiType. Names and SSM parameters: user guide of EKS. AWS makes its Windows images private
 * about four months after their release: existing nodes keep running, new ones cannot be launched.
 */
import { createHash } from 'node:crypto';
import type { DescribeImagesRequest, DescribeImagesResult, Image } from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import { amiTypesOf, dayOf, minors, type Release, releasesOf, windowsOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { doNotExist, type Filters, listOf } from './ec2Filters.ts';
import { ownImageOf, rootVolumeOf, WINDOWS_VOLUME_GIB } from './ownImages.ts';

/** How long an image stays public, relative to the newest release, so that no test depends on the current date. */
const publicMs = 122 * 86_400_000;
// EC2 deprecates a public image two years after it was made: user guide of EC2.
const deprecatedMs = 730 * 86_400_000;

/** The published image of a release version; by default the newest of the cluster's version. */
export function releaseOf(cloud: LocalAwsState, releaseVersion: string | undefined): Release | undefined {
  if (releaseVersion === undefined) return newestRelease(cloud, cloud.clusterState.version);
  const releases = releasesOf(cloud.releases, releaseVersion.split('-')[0] ?? '');
  return releases.find((release) => release.releaseVersion === releaseVersion);
}

/** The newest release of a minor, for an amiType if one is given. */
export const newestRelease = (cloud: LocalAwsState, minor: string, amiType?: string): Release | undefined =>
  releasesOf(cloud.releases, minor, amiType).at(-1);

/** The newest release that EKS accepts. SSM can name a newer one until EKS has it. */
export const newestInEks = (cloud: LocalAwsState, minor: string, amiType?: string): Release | undefined =>
  inEks(cloud, minor, amiType).at(-1);

/** The releases that EKS accepts, oldest first. */
export const inEks = (cloud: LocalAwsState, minor: string, amiType?: string): Release[] => {
  const days = cloud.releases.filter(({ ahead }) => ahead !== true);
  return releasesOf(days, minor, amiType);
};

const imageIds = new Map<string, string>();

/** One id for each pair of amiType and release version. */
export function imageIdFor(amiType: string, releaseVersion: string): string {
  const image = `${amiType}/${releaseVersion}`;
  const id = imageIds.get(image) ?? `ami-0${createHash('sha256').update(image).digest('hex').slice(0, 16)}`;
  imageIds.set(image, id);
  return id;
}

/** The Windows version and the release of the image with that ID, public or not. */
export function imageNamed(
  cloud: LocalAwsState,
  id: string,
): { readonly amiType: string; readonly releaseVersion: string } | undefined {
  const own = cloud.ownImages.get(id);
  return own ?? published(cloud).find(({ amiType, releaseVersion }) => imageIdFor(amiType, releaseVersion) === id);
}

/** The owner of an image, as in the condition key ec2:Owner. */
export const ownerOfImage = (cloud: LocalAwsState, id: string): string => cloud.ownImages.get(id)?.owner ?? 'amazon';

/** May instances be launched from an image? Those of users are shared with everybody here. */
export const isLaunchable = (cloud: LocalAwsState, id: string): boolean => {
  const own = cloud.ownImages.get(id);
  if (own !== undefined) return own.state === 'available';
  const image = imageNamed(cloud, id);
  return image !== undefined && isPublic(cloud, image.releaseVersion);
};

/** `Windows_Server-2022-English-Core-EKS_Optimized-1.36`: the AMI's name without its date, and the name in SSM. */
export function imageFamily(amiType: string, minor: string): string {
  const { year, edition } = windowsOf(amiType) ?? { year: '', edition: '' };
  return `Windows_Server-${year}-English-${edition === 'CORE' ? 'Core' : 'Full'}-EKS_Optimized-${minor}`;
}

/** May instances be launched from a release? */
export function isPublic(cloud: LocalAwsState, releaseVersion: string | undefined): boolean {
  const found = cloud.releases.find(({ date }) => releaseVersion?.endsWith(`-${date}`) === true);
  const newest = cloud.releases.at(-1);
  if (found === undefined || newest === undefined) return true;
  return found.public ?? dayOf(newest.date) - dayOf(found.date) <= publicMs;
}

const imageFilters: Filters<Image> = {
  name: ({ Name }) => Name ?? '',
};

/** DescribeImages, of EKS' Windows images that are public, and of those of users. */
export function describeImages(cloud: LocalAwsState, request: DescribeImagesRequest): DescribeImagesResult {
  const ids = request.ImageIds ?? [];
  const all = images(cloud);
  const missing = ids.filter((id) => !all.some(({ ImageId }) => ImageId === id));
  if (missing.length > 0) throw new AwsFault('InvalidAMIID.NotFound', doNotExist('image id', [`[${missing}]`]));
  const owners = request.Owners ?? [];
  const found = all
    .filter(({ ImageId = '' }) => ids.length === 0 || ids.includes(ImageId))
    .filter(({ OwnerId = '' }) => owners.length === 0 || owners.includes('amazon') || owners.includes(OwnerId));
  return listOf('Images', found, request, { filters: imageFilters });
}

const published = (cloud: LocalAwsState) =>
  minors.flatMap((minor) =>
    amiTypesOf(minor).flatMap((amiType) =>
      releasesOf(cloud.releases, minor, amiType).map(({ releaseVersion }) => ({ minor, amiType, releaseVersion })),
    ),
  );

const images = (cloud: LocalAwsState): Image[] =>
  published(cloud)
    .filter(({ releaseVersion }) => isPublic(cloud, releaseVersion))
    .map(({ amiType, minor, releaseVersion }) => imageOf(amiType, minor, releaseVersion))
    .concat([...cloud.ownImages.values()].map(ownImageOf));

function imageOf(amiType: string, minor: string, releaseVersion: string): Image {
  const date = releaseVersion.slice(minor.length + 1);
  return {
    ImageId: imageIdFor(amiType, releaseVersion),
    Name: `${imageFamily(amiType, minor)}-${date}`,
    OwnerId: '801119661308',
    ImageOwnerAlias: 'amazon',
    Public: true,
    State: 'available',
    Architecture: 'x86_64',
    ...rootVolumeOf(WINDOWS_VOLUME_GIB),
    Platform: 'windows' as NonNullable<Image['Platform']>,
    CreationDate: new Date(dayOf(date)).toISOString(),
    DeprecationTime: new Date(dayOf(date) + deprecatedMs).toISOString(),
  };
}
