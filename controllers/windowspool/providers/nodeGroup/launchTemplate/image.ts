/** Custom AMIs: whether a pool can run one, and its age. Pure. */
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import { yearOf } from '../../../nodes/windowsVersions.ts';
import { CUSTOM, imageParameterOf, type NodeGroup } from '../../../ports/eks.ts';
import type { Image } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { DEFAULT_DISK_GIB } from '../../../sizing/rootVolume.ts';
import { cut } from '../../../util/words.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import type { EksState, ObservedCluster } from '../model/groupState.ts';
import { lifeEnd, lifeFrom } from '../versions/releaseVersion.ts';

/** Windows images have updates of one month; as an AMI of EKS, one counts as old after three. In milliseconds. */
const OLD_MS = 92 * 86_400_000;
/** How long before its deprecation it is reported, in milliseconds. */
const SOON_MS = 30 * 86_400_000;

/** The ID of the custom AMI of a group, which EKS reports as its release; undefined for other groups. */
export function imageIdOf(group: Pick<NodeGroup, 'amiType' | 'releaseVersion'> | undefined): string | undefined {
  const { amiType, releaseVersion = '' } = group ?? {};
  return amiType === CUSTOM && isImageId(releaseVersion) ? releaseVersion : undefined;
}

/** Whether the spec follows the AMI in a parameter: its own, or that of EKS if it only sets the kubelet. */
export function followsImage(spec: WindowsPoolSpec): boolean {
  const { ami, kubelet } = nodeGroupIn(spec);
  return ami ? ami.ssmParameter !== undefined : kubelet !== undefined;
}

/**
 * The parameter that the spec follows. That of EKS has the version of the cluster in its name.
 *
 * @returns undefined if the spec follows none, or the version is not known
 */
export function imageParameterIn(spec: WindowsPoolSpec, cluster: ObservedCluster): string | undefined {
  const { ami, kubelet, edition } = nodeGroupIn(spec);
  if (ami) return ami.ssmParameter;
  if (!kubelet || cluster.kind !== 'seen') return undefined;
  return imageParameterOf(yearOf(spec.windowsVersion), edition, cluster.cluster.kubernetesVersion);
}

/** The ID of the AMI that the spec selects; undefined if it selects none, or its parameter is not resolved or has no ID. */
export function selectedImage(
  spec: WindowsPoolSpec,
  { imageParameter }: Pick<CheckFacts, 'imageParameter'> = {},
): string | undefined {
  if (!followsImage(spec)) return nodeGroupIn(spec).ami?.id;
  const value = imageParameter?.ok ? imageParameter.value : undefined;
  return value !== undefined && isImageId(value) ? value : undefined;
}

/** Whether no node can start from the AMI of the group, because EC2 no longer finds it: it is private, as those of Amazon are after some months, or deregistered. */
export function isImageGone({ image }: Pick<CheckFacts, 'image'> = {}): boolean {
  const { ofGroup } = (image?.ok && image.value) || {};
  return ofGroup !== undefined && ofGroup.found === undefined;
}

/** Whether the text is the ID of an AMI. */
export function isImageId(text: string): boolean {
  return /^ami-[0-9a-f]{8,17}$/.test(text);
}

/** What a node group runs, by its release version, which is the ID of a custom AMI: `release 1.36-2026.03.17`, `AMI ami-0a000002`. */
export function describeRelease(releaseVersion: string): string {
  return `${isImageId(releaseVersion) ? 'AMI' : 'release'} ${releaseVersion}`;
}

/** Why the pool cannot run the AMI, without a full stop; undefined if it can. */
export function imageFault(spec: WindowsPoolSpec, image: Image): string | undefined {
  const { state, isWindows, architecture, rootVolumeGiB = 0 } = image;
  const name = describeImage(image);
  const year = yearIn(image);
  if (!isWindows)
    return `${name} is not an AMI of Windows. Set nodeGroup.ami to one that was made from an EKS-optimized Windows AMI`;
  if (state !== 'available')
    return `${name} is ${cut(state, 64) || 'in an unknown state'}, so no instance can start from it. Wait until it is available (aws ec2 describe-images --image-ids ${image.id}), or set nodeGroup.ami to another one`;
  if (architecture !== 'x86_64')
    return `${name} has the architecture ${cut(architecture, 64) || 'unknown'}, and Windows nodes need x86_64. Set nodeGroup.ami to another AMI`;
  if (year !== undefined && year !== yearOf(spec.windowsVersion))
    return `${name} is an AMI of Windows Server ${year}, and windowsVersion is ${spec.windowsVersion}. Set nodeGroup.ami to an AMI of Windows Server ${yearOf(spec.windowsVersion)}, or create a pool with another windowsVersion`;
  const { sizeGiB = DEFAULT_DISK_GIB } = nodeGroupIn(spec).disk ?? {};
  if (sizeGiB < rootVolumeGiB)
    return `The root volume of ${name} has ${rootVolumeGiB} GiB, and nodeGroup.disk.sizeGiB is ${sizeGiB}, so EC2 launches no instance. Set it to at least ${rootVolumeGiB}`;
  return undefined;
}

/** The Windows Server version in the name of an AMI, such as `2022` in `Windows_Server-2022-English-Core-Golden`; undefined if it shows none, or several. */
export function yearIn({ name }: Pick<Image, 'name'>): string | undefined {
  const found = [...name.matchAll(/(?:win(?:dows)?[_\s-]*(?:server)?|ltsc)[_\s-]*(20(?:16|19|22|25))(?!\d)/gi)];
  const builds = Object.entries(BUILDS).filter(([build]) => new RegExp(`(?<!\\d)${build}(?!\\d)`).test(name));
  const years = new Set([...found.map(([, year = '']) => year), ...builds.map(([, year]) => year)]);
  const [only, ...others] = years;
  return others.length === 0 ? only : undefined;
}

const BUILDS: Readonly<Record<string, string>> = { '14393': '2016', '17763': '2019', '20348': '2022', '26100': '2025' };

/** `AMI ami-0a000001 (golden-17)` */
export function describeImage({ id, name }: Pick<Image, 'id' | 'name'>): string {
  return `AMI ${id}${name && ` (${cut(name, 128)})`}`;
}

/** A warning for messages about an AMI that is old, deprecated, or about to become private; empty before. */
export function imageEnd(
  { createdAt, deprecatedAt, isOfAmazon }: Pick<Image, 'createdAt' | 'deprecatedAt' | 'isOfAmazon'>,
  now: number,
): string {
  if (isOfAmazon) return createdAt === undefined ? '' : lifeEnd(lifeFrom(createdAt), now);
  const old = createdAt !== undefined && now >= createdAt + OLD_MS;
  const texts = [
    ...(old ? [`The AMI is from ${dayOf(createdAt)}, and has no Windows updates that are newer.`] : []),
    ...(deprecatedAt !== undefined && now >= deprecatedAt - SOON_MS
      ? [
          now < deprecatedAt
            ? `EC2 deprecates the AMI on ${dayOf(deprecatedAt)}.`
            : `The AMI is deprecated since ${dayOf(deprecatedAt)}.`,
        ]
      : []),
  ];
  return texts.length > 0 ? ` ${texts.join(' ')} Make a new one from the newest EKS-optimized AMI.` : '';
}

/** A warning about the age of the custom AMI of the group; empty if there is none, or it is unknown. */
export function endOfImage({ prerequisites, now }: Pick<EksState, 'prerequisites' | 'now'>): string {
  const image = prerequisites?.image?.ok ? prerequisites.image.value.ofGroup?.found : undefined;
  return image ? imageEnd(image, now) : '';
}

/** `2026-01-22` */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
