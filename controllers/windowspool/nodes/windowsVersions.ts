/**
 * Windows Server versions in Kubernetes and EKS.
 *
 * Sources: build numbers from https://learn.microsoft.com/windows/release-health/windows-server-release-info, AMI types from
 * https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html, the handler from containerd's default configuration.
 */
import type { WindowsPoolSpec } from '../api/api.gen.ts';

/** A Windows version of the spec. */
export type WindowsVersion = WindowsPoolSpec['windowsVersion'];

/** The build of each version, as in the label `node.kubernetes.io/windows-build`. */
const BUILDS: Readonly<Record<WindowsVersion, string>> = {
  Windows2019: '10.0.17763',
  Windows2022: '10.0.20348',
  Windows2025: '10.0.26100',
};

/**
 * The last day of Microsoft's extended support. Sources: https://learn.microsoft.com/lifecycle/products/windows-server-2019, -2022 and -2025; the date
 * of 2025 was once given as 2034-10-10.
 */
const SUPPORT_ENDS: Readonly<Record<WindowsVersion, string>> = {
  Windows2019: '2029-01-09',
  Windows2022: '2031-10-14',
  Windows2025: '2034-11-14',
};

/**
 * The minor versions of Kubernetes 1 that support each Windows version, inclusive; without `last`: still supported. The vendor of a node image may
 * support more. Sources: https://kubernetes.io/docs/concepts/windows/intro/#windows-os-version-support and its history: 2022 since 1.23, 2025 in
 * place of 2019 since 1.35 (kubernetes/website#53724, #55103).
 */
const KUBERNETES_SUPPORT: Readonly<Record<WindowsVersion, { readonly first: number; readonly last?: number }>> = {
  Windows2019: { first: 14, last: 34 },
  Windows2022: { first: 23 },
  Windows2025: { first: 35 },
};

/** The Kubernetes versions that support a Windows version, such as `up to 1.34`; undefined if this minor version does. */
export function kubernetesSupport(version: WindowsVersion, minor: number): string | undefined {
  const { first, last } = KUBERNETES_SUPPORT[version];
  if (minor < first) return `from 1.${first}`;
  return last !== undefined && minor > last ? `up to 1.${last}` : undefined;
}

/** 36 of the version of an API server or a kubelet, such as `v1.36.3-eks-1a2b3c4`; undefined if it has another form. */
export function kubernetesMinor(version: string): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The last day on which Microsoft publishes security updates for a Windows version: `2031-10-14`. */
export function supportEndOf(version: WindowsVersion): string {
  return SUPPORT_ENDS[version];
}

/** The label that a Windows kubelet sets at registration: major.minor.build, without the revision. */
export const WINDOWS_BUILD_LABEL = 'node.kubernetes.io/windows-build';

/** The node resource that the VPC resource controller adds: pod addresses. */
export const POD_ADDRESSES = 'vpc.amazonaws.com/PrivateIPv4Address';

/** `Windows2022` -> `10.0.20348`. */
export function buildOf(version: WindowsVersion): string {
  return BUILDS[version];
}

/** `10.0.20348` -> `Windows Server 2022`; undefined for a build of no supported version. */
export function releaseOf(build: string): string | undefined {
  const version = (Object.keys(BUILDS) as WindowsVersion[]).find((candidate) => BUILDS[candidate] === build);
  return version && `Windows Server ${yearOf(version)}`;
}

/** The EKS AMI type: (`Windows2022`, `Core`) -> `WINDOWS_CORE_2022_x86_64`. */
export function amiTypeOf(version: WindowsVersion, edition: 'Core' | 'Full'): string {
  return `WINDOWS_${edition.toUpperCase()}_${yearOf(version)}_x86_64`;
}

/** `Windows2022` -> `2022`. */
export function yearOf(version: WindowsVersion): string {
  return version.slice('Windows'.length);
}

/** A Windows kernel version as reported by the kubelet. */
export interface KernelVersion {
  /** major.minor.build, as in the windows-build label. */
  readonly build: string;
  /** The update build revision (UBR); absent when the kubelet does not report it. */
  readonly revision: number | undefined;
}

/**
 * Parses `10.0.20348.1607`, and `10.0.20348` without a revision. Anything else is undefined, never a guess: a node with an unknown kernel is not
 * verified.
 */
export function parseKernelVersion(text: string): KernelVersion | undefined {
  const match = /^(10\.0\.\d+)(?:\.(\d+))?$/.exec(text);
  if (!match?.[1]) return undefined;
  return { build: match[1], revision: match[2] === undefined ? undefined : Number(match[2]) };
}
