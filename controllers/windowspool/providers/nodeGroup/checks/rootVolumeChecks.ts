/** Checks on the root volume of nodes. */

import { advises, met, notMet } from '../../../checks/check.ts';
import type { LaunchTemplate } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { DEFAULT_DISK_GIB, ENOUGH_GIB } from '../../../sizing/rootVolume.ts';
import { diskIn } from '../launchTemplate/launchSettings.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { resolvedTemplate, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** The root volume of new nodes, and what defines it: the user's launch template, or the launch settings in the spec. */
interface RootVolume {
  readonly sizeGiB?: number;
  readonly isEncrypted?: boolean;
  readonly template?: LaunchTemplate;
  readonly isOfLaunchSettings?: true;
}

/** The root volume of new nodes; undefined while the template is not known. */
export function rootVolumeOf({ spec, facts }: CheckInput): RootVolume | undefined {
  const disk = diskIn(spec);
  if (disk) return { sizeGiB: disk.sizeGiB, isEncrypted: disk.encrypted, isOfLaunchSettings: true };
  if (!templateIn(spec)) return { sizeGiB: nodeGroupIn(spec).diskSizeGiB ?? DEFAULT_DISK_GIB };
  const template = resolvedTemplate(facts);
  return template && { ...template.rootVolume, template };
}

/**
 * The root volume should be encrypted: Windows has no file system in memory, so the kubelet writes Secrets to it in plain text
 * (https://kubernetes.io/docs/concepts/security/windows-security/#protection-for-secret-data-on-nodes). The AMIs of EKS are public, and public images
 * have no encrypted snapshots (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/AMIEncryption.html), so a volume is encrypted only if the template or
 * the account says so.
 */
export const volumeEncryption: NodeGroupCheck = {
  ...advises('RootVolumeNotEncrypted', 'volume-encryption'),
  needs: ['encryptsVolumes', 'launchTemplate'],
  evaluate(input) {
    const volume = rootVolumeOf(input);
    if (!volume) return undefined;
    if (volume.isEncrypted) return met;
    const { facts, region } = input;
    return given(facts, 'encryptsVolumes', (always) => {
      if (always) return met;
      const { open, other } = encryptionTexts(volume, input);
      return notMet(
        `EC2 does not encrypt new volumes in ${region}${open}. The kubelet writes the Secrets of pods to the root volume in plain text. Enable encryption by default (aws ec2 enable-ebs-encryption-by-default --region ${region})${other}`,
      );
    });
  },
};

/** What else leaves the volume open, and another remedy than a setting of the account. */
function encryptionTexts(
  { template, isOfLaunchSettings }: RootVolume,
  { creating }: CheckInput,
): { readonly open: string; readonly other: string } {
  const BOTH = 'Both apply to new nodes';
  if (template) {
    const open = `, and ${nameOf(template)} does not encrypt the root volume (/dev/sda1)`;
    return { open, other: `, or encrypt the volume in the launch template. ${BOTH}` };
  }
  if (isOfLaunchSettings) {
    const other = creating
      ? `, or set nodeGroup.disk.encrypted: true. ${BOTH}`
      : ', which applies to new nodes, or set nodeGroup.disk.encrypted: true, which replaces all nodes';
    return { open: ', and nodeGroup.disk.encrypted is false', other };
  }
  // EKS cannot add a launch template to a node group.
  const other = creating
    ? `, or set nodeGroup.disk (not diskSizeGiB), which encrypts the root volume. ${BOTH}`
    : '. This applies to new nodes';
  return { open: '', other };
}

/**
 * The root volume should have room for images. It has Windows, the page file, and all images and containers; an image of Server Core has several GiB when
 * it is unpacked. Above 85% the kubelet deletes images, then it evicts pods
 * (https://kubernetes.io/docs/concepts/architecture/garbage-collection/#container-image-lifecycle).
 */
export const volumeSize: NodeGroupCheck = {
  ...advises('RootVolumeSmall', 'volume-size'),
  needs: ['launchTemplate'],
  evaluate(input) {
    const volume = rootVolumeOf(input);
    if (!volume) return undefined;
    // A template without a size leaves that of the AMI.
    const { sizeGiB = DEFAULT_DISK_GIB } = volume;
    if (sizeGiB >= ENOUGH_GIB) return met;
    return notMet(
      `The root volume has ${sizeGiB} GiB for Windows and all images and containers, and an image based on Server Core needs several GiB. When the volume is full, the kubelet deletes images and evicts pods. ${sizeRemedy(volume, input)}`,
    );
  },
};

function sizeRemedy({ template, isOfLaunchSettings }: RootVolume, { creating }: CheckInput): string {
  if (template) return `Set the VolumeSize of /dev/sda1 in ${nameOf(template)} to at least ${ENOUGH_GIB}`;
  if (isOfLaunchSettings)
    return `Set nodeGroup.disk.sizeGiB to at least ${ENOUGH_GIB}${creating ? '' : ', which replaces all nodes'}`;
  if (creating) return `Set nodeGroup.diskSizeGiB to at least ${ENOUGH_GIB}`;
  return `EKS cannot change the disk size of a node group: set nodeGroup.immutableChangePolicy: Replace, and nodeGroup.diskSizeGiB to at least ${ENOUGH_GIB}`;
}

function nameOf({ name, version }: LaunchTemplate): string {
  return `version ${version} of launch template ${name}`;
}
