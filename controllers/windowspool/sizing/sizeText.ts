/** A size in words, for the command and for the calculator. Pure, and runs in a browser. */
import { count, joined } from '../util/words.ts';
import { DEFAULT_MAX_PODS } from './kubeletDefaults.ts';
import { IMAGE_GC_PERCENT } from './rootVolume.ts';
import type { Limit, Size, TypeSize } from './size.ts';

/** What limits pods, as a reader calls it. */
const LIMIT_NAMES: Readonly<Record<Limit, string>> = {
  addresses: 'IP addresses',
  maxPods: 'maxPods',
  cpu: 'CPU',
  memory: 'memory',
};

/** The modes by which pods get addresses, as a reader calls them. */
export const MODE_NAMES: Readonly<Record<TypeSize['mode'], string>> = {
  secondary: 'secondary IP addresses',
  prefix: 'prefix delegation',
};

/** `8Gi` or `7692Mi`. */
export function memoryText(mib: number): string {
  return mib % 1024 === 0 ? `${mib / 1024}Gi` : `${Math.floor(mib)}Mi`;
}

/** `4 to 23 minutes`; from four hours on, `1.7 to 9.6 hours`. */
export function timeText({ from, to }: { readonly from: number; readonly to: number }): string {
  const HOUR = 60;
  if (to < 4 * HOUR) return `${from} to ${to} minutes`;
  const hours = (minutes: number) => Number((minutes / HOUR).toFixed(1));
  return `${hours(from)} to ${hours(to)} hours`;
}

/** What limits the pods of a node of that type. */
export function limitText({ limitedBy }: TypeSize): string {
  return joined(limitedBy.map((limit) => LIMIT_NAMES[limit]));
}

/** What the pods of a type need to know about, as sentences; empty if nothing. */
export function remarksOn(type: TypeSize, wantedPods: number | undefined): string[] {
  const { instanceType: name, nodes, pods, podsPerNode, limitedBy, subnet } = type;
  const remarks: string[] = [];
  if (podsPerNode === 0)
    remarks.push(
      `No pod fits on ${name} (limited by ${limitText(type)}). Use a larger instance type, or lower the requests.`,
    );
  else if (wantedPods !== undefined && nodes !== null && pods < wantedPods)
    remarks.push(
      `${count(nodes, 'node')} of ${name} can run ${pods} of ${wantedPods} pods. Use at least ${Math.ceil(wantedPods / podsPerNode)} nodes.`,
    );
  if (podsPerNode === DEFAULT_MAX_PODS && limitedBy.length === 1 && limitedBy[0] === 'maxPods')
    remarks.push(
      `The kubelet accepts ${DEFAULT_MAX_PODS} pods by default, and ${name} has room for more: set nodeGroup.kubelet.maxPods.`,
    );
  if (podsPerNode > 0 && subnet?.nodesWithPods === 0)
    remarks.push(`A ${subnet.prefix} subnet is too small for one node of ${name} with ${count(podsPerNode, 'pod')}.`);
  return remarks;
}

/** The memory that pods cannot request, and how to reserve it: sentences. */
export function memoryAbout({ memory: { reservedMiB, evictionMiB } }: Size): string {
  const eviction = `the kubelet keeps ${memoryText(evictionMiB)} free (eviction threshold)`;
  if (reservedMiB === 0)
    return `Nothing is reserved for Windows, and ${eviction}. AWS recommends to reserve at least 2Gi: Windows has no OOM killer.`;
  return `${memoryText(reservedMiB)} is reserved for Windows, and ${eviction}. EKS reserves nothing: set nodeGroup.kubelet.systemReserved.memory to ${memoryText(reservedMiB)}.`;
}

/** The size of the root volume: sentences. */
export function volumeAbout({ rootVolume: { leastGiB, imagesGiB, recommendedGiB } }: Size): string {
  const images =
    imagesGiB === 0
      ? `At least ${leastGiB} GiB, the size of the AMI.`
      : `${leastGiB} GiB for Windows and ${Number(imagesGiB.toFixed(1))} GiB of images stay below ${IMAGE_GC_PERCENT}%, above which the kubelet deletes images.`;
  return `Use ${recommendedGiB} GiB (nodeGroup.disk.sizeGiB). ${images}`;
}
