/** The Windows versions that EKS has images for, and the build that each reports. Source: Microsoft's release table. */
const windowsBuilds = { '2019': '10.0.17763', '2022': '10.0.20348', '2025': '10.0.26100' } as const;

/** A year of `windowsBuilds`. */
export type WindowsYear = keyof typeof windowsBuilds;

/** One published image of EKS: what a node made from it reports. */
export interface Release {
  readonly releaseVersion: string;
  readonly kubernetesVersion: string;
  readonly kubeletVersion: string;
  readonly containerRuntimeVersion: string;
  readonly revisions: Readonly<Record<WindowsYear, number>>;
}

/** Month by month: the image's date and the revision (UBR) of each Windows version. Only 2024.11.12 carries Microsoft's own figures. */
const patchDays: readonly (readonly [date: string, containerd: string, y2019: number, y2022: number, y2025: number])[] =
  [
    ['2024.11.12', '1.7.20', 6532, 2849, 2314],
    ['2026.02.17', '2.1.5', 8389, 4773, 32370],
    ['2026.03.17', '2.1.6', 8511, 4893, 32522],
    ['2026.04.18', '2.1.6', 8644, 5020, 32690],
  ];

/** The kubelet of each Kubernetes minor. 1.31.1 and 1.35.3 are those of the published images. */
const kubelets: Readonly<Record<string, string>> = {
  '1.31': 'v1.31.1-eks-1b3e656',
  '1.32': 'v1.32.9-eks-113cf36',
  '1.33': 'v1.33.8-eks-f69f56f',
  '1.34': 'v1.34.5-eks-f69f56f',
  '1.35': 'v1.35.3-eks-3385e9f',
  '1.36': 'v1.36.1-eks-3385e9f',
};

/** The releases of a Kubernetes minor, oldest first; none for a minor that EKS does not know. */
export function releasesOf(kubernetesVersion: string): Release[] {
  const kubeletVersion = kubelets[kubernetesVersion];
  if (kubeletVersion === undefined) return [];
  return patchDays
    .filter(([date]) => date !== '2024.11.12' || kubernetesVersion === '1.31')
    .map(([date, containerd, y2019, y2022, y2025]) => ({
      releaseVersion: `${kubernetesVersion}-${date}`,
      kubernetesVersion,
      kubeletVersion,
      containerRuntimeVersion: `containerd://${containerd}`,
      revisions: { '2019': y2019, '2022': y2022, '2025': y2025 },
    }));
}

/** What an amiType says: Windows version and edition; undefined for Linux. */
export function windowsOf(amiType: string): { year: WindowsYear; edition: 'CORE' | 'FULL' } | undefined {
  const match = /^WINDOWS_(CORE|FULL)_(2019|2022|2025)_x86_64$/.exec(amiType);
  return match === null ? undefined : { year: match[2] as WindowsYear, edition: match[1] as 'CORE' | 'FULL' };
}

/** The kernel version of a node made from that image: build and revision, such as `10.0.20348.2849`. */
export const kernelOf = (release: Release, year: WindowsYear): string =>
  `${windowsBuilds[year]}.${release.revisions[year]}`;

/** The first three numbers of a kernel version, as the label windows-build has them. */
export const buildOf = (kernelVersion: string): string => kernelVersion.split('.').slice(0, 3).join('.');

/** The Windows version whose build the kernel version has. */
export const yearOf = (kernelVersion: string): WindowsYear | undefined =>
  (Object.keys(windowsBuilds) as WindowsYear[]).find((year) => windowsBuilds[year] === buildOf(kernelVersion));
