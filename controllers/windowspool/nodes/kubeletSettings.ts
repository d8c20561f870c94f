/** The settings of kubelets, as Nodes show them, compared with the spec. */
import type { KubeletSpec } from '../api/api.gen.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { parseQuantity } from '../util/quantity.ts';
import { joined } from '../util/words.ts';

/** What a kubelet on Windows can reserve, and the eviction signal whose threshold it adds. */
const RESERVABLE = [
  { resource: 'memory', signal: 'memory.available' },
  { resource: 'cpu', signal: undefined },
  { resource: 'ephemeral-storage', signal: 'nodefs.available' },
] as const;

type Reservable = (typeof RESERVABLE)[number];

/**
 * How the reservations of a node differ from nodeGroup.kubelet, or undefined. On Windows, too, a node reserves systemReserved, kubeReserved and the hard
 * eviction threshold of a resource: https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/#node-allocatable, and
 * GetNodeAllocatableReservation in https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/container_manager_windows.go
 */
export function reservationMismatch(node: NodeRecord, { spec: { nodeGroup } }: Expectation): string | undefined {
  const kubelet = nodeGroup?.kubelet;
  if (!kubelet) return undefined;
  const found = RESERVABLE.flatMap((reservable) => mismatchOf(reservable, node, kubelet) ?? []);
  if (found.length === 0) return undefined;
  const remedy = found.some(({ isTooMuch }) => isTooMuch) ? REDUCE : REPLACE;
  return `reserves ${joined(found.map(({ text }) => text))} (nodeGroup.kubelet): ${remedy}`;
}

const REPLACE = 'replace the node, or wait for the rolling update';
const REDUCE = 'its capacity is less than that, so set smaller values or use a larger instance type';

interface Mismatch {
  /** `500Mi of memory instead of at least 2048Mi` */
  readonly text: string;
  /** No node of this type can reserve so much. */
  readonly isTooMuch: boolean;
}

/**
 * What the spec leaves out comes from the AMI or is the default of the kubelet, which differs by version: only if the spec sets every part, a node that
 * reserves more differs from it.
 */
function mismatchOf({ resource, signal }: Reservable, node: NodeRecord, kubelet: KubeletSpec): Mismatch | undefined {
  const capacity = parseQuantity(node.capacity[resource]);
  const reserved = reservedOf(node, resource);
  if (capacity === undefined || reserved === undefined) return undefined;
  const { systemReserved, kubeReserved, evictionHard } = kubelet;
  const thresholds = signal === undefined || ignoresThresholds(kubelet) ? [] : [evictionHard?.[signal]];
  const parts = [systemReserved?.[resource], kubeReserved?.[resource], ...thresholds];
  const expected = parts.reduce((sum, part) => sum + amountOf(part, capacity), 0);
  const isExact = parts.every((part) => part !== undefined);
  const difference = reserved - expected;
  const tolerance = capacity * PRECISION;
  if (isExact ? Math.abs(difference) <= tolerance : difference >= -tolerance) return undefined;
  const [found, wanted] = [textOf(resource, reserved), textOf(resource, expected)];
  const text = `${found} of ${resource} instead of ${isExact ? '' : 'at least '}${wanted}`;
  return { text, isTooMuch: expected > capacity };
}

/**
 * Whether the kubelet leaves the thresholds out of what it reserves. Source:
 * https://github.com/kubernetes/kubernetes/blob/master/cmd/kubelet/app/server.go. Go reads these texts as true: https://pkg.go.dev/strconv#ParseBool
 */
function ignoresThresholds({ extraArgs }: KubeletSpec): boolean {
  return /^(?:1|[tT]|true|True|TRUE)$/.test(extraArgs?.['experimental-allocatable-ignore-eviction'] ?? '');
}

/** Relative to the capacity: the kubelet computes a percentage with 24 significant bits (ThresholdValue), and rounds it down to bytes. */
const PRECISION = 2 ** -22;

/** A quantity, or a percentage of the capacity. */
function amountOf(part: string | undefined, capacity: number): number {
  if (part?.endsWith('%')) return (capacity * Number(part.slice(0, -1))) / 100;
  return parseQuantity(part) ?? 0;
}

/** How much of a resource pods cannot use, in the unit of the resource; undefined if the node does not report it. */
function reservedOf(
  { capacity, allocatable }: Pick<NodeRecord, 'capacity' | 'allocatable'>,
  resource: Reservable['resource'],
): number | undefined {
  const [has, offers] = [parseQuantity(capacity[resource]), parseQuantity(allocatable[resource])];
  return has === undefined || offers === undefined ? undefined : has - offers;
}

/** `2048Mi`, `2097151Ki`, or `500m` of a CPU. */
function textOf(resource: Reservable['resource'], amount: number): string {
  if (resource === 'cpu') return `${Math.round(amount * 1000)}m`;
  return amount % MIB === 0 ? mebibytes(amount) : `${Math.round(amount / 1024)}Ki`;
}

/**
 * How the number of pods that a node accepts differs from nodeGroup.kubelet, or undefined. It is the capacity `pods`, which the argument pods-per-core can
 * reduce: https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/, and MachineInfo in
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/nodestatus/setters.go
 */
export function maxPodsMismatch({ capacity }: NodeRecord, { spec: { nodeGroup } }: Expectation): string | undefined {
  const { maxPods, extraArgs } = nodeGroup?.kubelet ?? {};
  const pods = parseQuantity(capacity.pods);
  if (maxPods === undefined || pods === undefined) return undefined;
  const perCore = Number(extraArgs?.['pods-per-core'] ?? 0) * (parseQuantity(capacity.cpu) ?? 0);
  const expected = perCore > 0 ? Math.min(perCore, maxPods) : maxPods;
  return pods === expected ? undefined : `accepts ${pods} pods instead of ${expected} (nodeGroup.kubelet): ${REPLACE}`;
}

/**
 * Opt-in: on EKS allocatable is about capacity, because the bootstrap script reserves no memory
 * (https://github.com/aws/containers-roadmap/issues/481), and EKS passes no arguments to the kubelet: nodeGroup.kubelet does. The rest is the hard
 * eviction threshold of the kubelet. Windows has no OOM killer: https://kubernetes.io/docs/concepts/configuration/windows-resource-management/
 */
export function littleReservedMemory(node: NodeRecord, { spec, owner }: Expectation): string | undefined {
  const minimum = spec.verification.minimumReservedMemory;
  const wanted = parseQuantity(minimum);
  const reserved = reservedOf(node, 'memory');
  if (wanted === undefined || reserved === undefined || reserved >= wanted) return undefined;
  const remedy =
    owner === undefined
      ? 'set nodeGroup.kubelet.systemReserved, or set memory limits on its pods'
      : 'raise systemReserved in the configuration of its kubelet, or set memory limits on its pods';
  return `reserves ${mebibytes(reserved)} of memory for the system, less than verification.minimumReservedMemory ${minimum}: ${remedy}`;
}

/** How much memory a node reserves, such as `500Mi`, if it reports that; a node with more allocatable memory than it has reserves none. */
export function reservedMemoryOf(node: Pick<NodeRecord, 'capacity' | 'allocatable'>): string | undefined {
  const reserved = reservedOf(node, 'memory');
  return reserved === undefined ? undefined : mebibytes(Math.max(0, reserved));
}

const MIB = 1024 ** 2;

/** `2048Mi` */
function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / MIB)}Mi`;
}
