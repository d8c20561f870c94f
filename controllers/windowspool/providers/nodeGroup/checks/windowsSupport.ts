/** Which Kubernetes versions EKS supports with which Windows Server version. */

import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { WindowsVersion } from '../../../nodes/windowsVersions.ts';
import type { Cluster } from '../../../ports/eks.ts';
import { pinnedMinor } from '../desired/desiredNodeGroup.ts';
import { isNewerMinor } from '../versions/releaseVersion.ts';

/** A range of minor versions of Kubernetes 1, both included. */
export interface Support {
  readonly first: number;
  readonly last: number;
}

/** The newest Kubernetes version that this release is tested with. For newer ones, EKS is asked whether it publishes an AMI. */
const NEWEST = 36;

/**
 * Sources: https://kubernetes.io/docs/concepts/windows/intro/#windows-os-version-support for the pairs,
 * https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-versions-windows.html for the AMIs: those of Windows Server 2025 exist from 1.35,
 * and managed node groups of Windows from the AMIs of November 2022, when 1.23 was the newest version.
 */
const TABLE: Readonly<Record<WindowsVersion, Support>> = {
  Windows2019: { first: 23, last: NEWEST },
  Windows2022: { first: 23, last: NEWEST },
  Windows2025: { first: 35, last: NEWEST },
};

/** The Kubernetes versions that EKS supports with a Windows Server version. */
export function supportOf(version: WindowsVersion): Support {
  return TABLE[version];
}

/**
 * The Kubernetes version of the pool's nodes if it is newer than the table of this release, so that the AMI must be looked up; undefined otherwise.
 */
export function unlistedMinor(spec: WindowsPoolSpec, cluster: Cluster): string | undefined {
  const version = pinnedMinor(spec) ?? cluster.kubernetesVersion;
  const minor = minorNumber(version);
  const isListed = minor === undefined || minor <= supportOf(spec.windowsVersion).last;
  return isListed || isNewerMinor(version, cluster.kubernetesVersion) ? undefined : version;
}

/** 36 of `1.36`; undefined for another major version, and if it is not known. */
export function minorNumber(version: string): number | undefined {
  const minor = /^1\.(\d+)$/.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}
