/** Whether a node reserves what nodeGroup.kubelet sets. */
import type { KubeletSpec, WindowsPoolSpec } from '../api.gen.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { parseQuantity } from '../util/quantity.ts';

/**
 * What the node lacks, or undefined. Allocatable memory is the capacity without both reservations and the hard eviction threshold:
 * https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/
 */
export function missingReservation(
  { capacity, allocatable }: Pick<NodeRecord, 'capacity' | 'allocatable'>,
  { nodeGroup }: Pick<WindowsPoolSpec, 'nodeGroup'>,
): string | undefined {
  const [has, offers] = [parseQuantity(capacity.memory), parseQuantity(allocatable.memory)];
  if (!nodeGroup?.kubelet || has === undefined || offers === undefined) return undefined;
  const wanted = reservedMemory(nodeGroup.kubelet, has);
  const reserved = has - offers;
  if (reserved >= wanted - ROUNDING) return undefined;
  return `reserves ${mebibytes(reserved)} of memory, and nodeGroup.kubelet sets ${mebibytes(wanted)}: replace the node, or wait for the rolling update`;
}

/** In bytes: the kubelet reports KiB, and may round each part. */
const ROUNDING = 4096;

/** The memory that pods cannot use, in bytes. Without a threshold in the spec, that of the kubelet is not known, and counts as none. */
function reservedMemory({ systemReserved, kubeReserved, evictionHard }: KubeletSpec, capacity: number): number {
  const threshold = evictionHard?.['memory.available'] ?? '0';
  const eviction = threshold.endsWith('%')
    ? (capacity * Number(threshold.slice(0, -1))) / 100
    : (parseQuantity(threshold) ?? 0);
  return (parseQuantity(systemReserved?.memory) ?? 0) + (parseQuantity(kubeReserved?.memory) ?? 0) + eviction;
}

/** `2048Mi` */
export function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)}Mi`;
}
