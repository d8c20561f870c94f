/** The size of the root volume of nodes. Pure. */

/**
 * The root volume of an EKS-optimized Windows AMI, which no instance can have smaller, and the default of EKS, in GiB:
 * https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, https://github.com/awslabs/amazon-eks-ami/issues/1142
 */
export const DEFAULT_DISK_GIB = 50;

/**
 * The least size without the advice RootVolumeSmall, in GiB: twice the default of EKS. No source has a number for EKS; for Windows nodes of acs-engine,
 * Microsoft advised to start with 128 GB:
 * https://github.com/Azure/acs-engine/blob/51c9c95b8d78c78dc81af230ffabc29a7fb784fa/docs/kubernetes/windows-details.md
 */
export const ENOUGH_GIB = 100;

/** The most that nodeGroup.disk.sizeGiB can be. */
export const LARGEST_GIB = 16_384;

/**
 * Above this percentage of the volume, the kubelet deletes images:
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#container-image-lifecycle
 */
export const IMAGE_GC_PERCENT = 85;

/**
 * The size in GiB with which the images stay, and without the advice: all images, unpacked, and as much as the whole volume of the AMI for Windows, its
 * page file, logs and the layers that containers write, fill at most 85% of it.
 */
export function rootVolumeFor(imagesGiB: number): number {
  return Math.max(ENOUGH_GIB, Math.ceil(((DEFAULT_DISK_GIB + imagesGiB) * 100) / IMAGE_GC_PERCENT));
}
