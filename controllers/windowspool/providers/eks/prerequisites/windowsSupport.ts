/** Which Kubernetes versions go with which Windows Server version on EKS. */
import type { WindowsVersion } from '../../../nodes/windows.ts';

/** Minor versions of Kubernetes 1, both included. */
export interface Support {
  readonly first: number;
  readonly last: number;
}

/** The newest Kubernetes that this release of the operator was tested with. For newer ones EKS is asked whether it publishes an AMI. */
const NEWEST = 36;

/**
 * Sources: https://kubernetes.io/docs/concepts/windows/intro/#windows-os-version-support for the pairs,
 * https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-versions-windows.html for the AMIs: those of Windows Server 2025 begin with 1.35,
 * and managed node groups of Windows with the AMIs of November 2022, when 1.23 was the newest.
 */
const TABLE: Readonly<Record<WindowsVersion, Support>> = {
  Windows2019: { first: 23, last: NEWEST },
  Windows2022: { first: 23, last: NEWEST },
  Windows2025: { first: 35, last: NEWEST },
};

export function supportOf(version: WindowsVersion): Support {
  return TABLE[version];
}
