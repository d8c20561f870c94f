/** The Windows versions that EKS has images for, and the build that each reports. Source: Microsoft's release table. */
const windowsBuilds = { '2019': '10.0.17763', '2022': '10.0.20348', '2025': '10.0.26100' } as const;

/** A year of `windowsBuilds`. */
export type WindowsYear = keyof typeof windowsBuilds;

/** One published image of EKS, with the fields that its nodes report. */
export interface Release {
  readonly releaseVersion: string;
  readonly kubernetesVersion: string;
  readonly kubeletVersion: string;
  readonly containerRuntimeVersion: string;
  readonly revisions: Readonly<Record<WindowsYear, number>>;
}

/**
 * The images that EKS publishes on one day, one for each Windows version, edition and Kubernetes minor. `date` is `2026.04.18`;
 * one was published as `2026-01-22`. `minors` and `amiTypes` limit what was published, `public` is whether it still is public.
 */
export interface ReleaseDay {
  readonly date: string;
  readonly containerd: string;
  readonly revisions: Readonly<Record<WindowsYear, number>>;
  readonly minors?: readonly string[];
  readonly amiTypes?: readonly string[];
  public?: boolean;
  /** SSM has it, and EKS does not accept it yet. */
  ahead?: boolean;
}

const day = (date: string, containerd: string, y2019: number, y2022: number, y2025: number): ReleaseDay => ({
  date,
  containerd,
  revisions: { '2019': y2019, '2022': y2022, '2025': y2025 },
});

/** Month by month, with the revision (UBR) of each Windows version. Only 2024.11.12 carries Microsoft's own figures. */
export const releaseDays: readonly ReleaseDay[] = [
  { ...day('2024.11.12', '1.7.20', 6532, 2849, 2314), minors: ['1.31'] },
  day('2026.02.17', '2.1.5', 8389, 4773, 32370),
  day('2026.03.17', '2.1.6', 8511, 4893, 32522),
  day('2026.04.18', '2.1.6', 8644, 5020, 32690),
];

/** The kubelet of each Kubernetes minor. 1.31.1 and 1.35.3 are those of the published images. */
const kubelets: Readonly<Record<string, string>> = {
  '1.31': 'v1.31.1-eks-1b3e656',
  '1.32': 'v1.32.9-eks-113cf36',
  '1.33': 'v1.33.8-eks-f69f56f',
  '1.34': 'v1.34.5-eks-f69f56f',
  '1.35': 'v1.35.3-eks-3385e9f',
  '1.36': 'v1.36.1-eks-3385e9f',
  '1.37': 'v1.37.0-eks-3385e9f',
};

/** The Kubernetes minors that EKS has images for. */
export const minors: readonly string[] = Object.keys(kubelets);

/** The number after `1.`, for comparisons of minors. */
export const minorNumber = (version: string): number => Number(version.split('.')[1]);

/** The kubelet, or that of a minor if this one is newer. An unknown minor changes nothing. */
export function notNewerThan(minor: string | undefined, kubelet: string): string {
  const newest = minor === undefined ? undefined : kubelets[minor];
  return newest !== undefined && minorNumber(kubelet) > minorNumber(newest) ? newest : kubelet;
}

/** The Windows images that a minor has, as amiTypes. 2025 needs Kubernetes 1.35: user guide of EKS. */
export const amiTypesOf = (kubernetesVersion: string): string[] =>
  (Object.keys(windowsBuilds) as WindowsYear[])
    .filter((year) => year !== '2025' || minorNumber(kubernetesVersion) >= 35)
    .flatMap((year) => [`WINDOWS_CORE_${year}_x86_64`, `WINDOWS_FULL_${year}_x86_64`]);

/** The releases of a Kubernetes minor, oldest first (of one amiType, if given); none for an unknown minor. */
export function releasesOf(days: readonly ReleaseDay[], kubernetesVersion: string, amiType?: string): Release[] {
  const kubeletVersion = kubelets[kubernetesVersion];
  if (kubeletVersion === undefined) return [];
  return days
    .filter(({ minors: only }) => only === undefined || only.includes(kubernetesVersion))
    .filter(({ amiTypes: only }) => only === undefined || amiType === undefined || only.includes(amiType))
    .map(({ date, containerd, revisions }) => ({
      releaseVersion: `${kubernetesVersion}-${date}`,
      kubernetesVersion,
      kubeletVersion,
      containerRuntimeVersion: `containerd://${containerd}`,
      revisions,
    }));
}

/** The day of a release date (`2026.04.18` or `2026-04-18`), in milliseconds since the epoch. */
export const dayOf = (date: string): number => Date.parse(`${date.replaceAll('.', '-')}T00:00:00Z`);

/** The Windows version and edition of an amiType; undefined for Linux. */
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
