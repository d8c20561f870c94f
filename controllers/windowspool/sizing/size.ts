/** How many pods, nodes, addresses and how much disk and memory a pool needs, for each instance type. Pure, and runs in a browser. */
import { parseQuantity } from '../util/quantity.ts';
import {
  type AddressMode,
  addressesAtStart,
  addressesWhenFull,
  addressesWith,
  defaultMode,
  modeOn,
  podsPerNode,
} from './addressMode.ts';
import type { SizedType } from './instanceTypes.ts';
import { DEFAULT_EVICTION_HARD } from './kubeletDefaults.ts';
import { PRICE_DRIVERS, type PriceDriver } from './priceDrivers.ts';
import { type Phase, REPLACEMENT_PHASES, replacementMinutes } from './replacement.ts';
import { DEFAULT_DISK_GIB, rootVolumeFor } from './rootVolume.ts';
import { nodesInSubnet, usableAddresses } from './subnets.ts';

/** What to size. */
export interface SizeRequest {
  /** At least one. */
  readonly types: readonly SizedType[];
  readonly mode: AddressMode['kind'];
  /** How many nodes there are to be; absent: as many as the pods need. */
  readonly nodes?: number;
  /** How many pods are to run; absent: as many as fit on the nodes. */
  readonly pods?: number;
  /** What each pod requests, in CPUs; absent: nothing. */
  readonly cpu?: number;
  /** What each pod requests, in MiB; absent: nothing. */
  readonly memoryMiB?: number;
  /** What the kubelet reserves of memory for Windows, without its eviction threshold. */
  readonly reservedMiB: number;
  readonly maxPods: number;
  /** The length of the prefix of the subnets. */
  readonly subnetPrefix?: number;
  /** All images of a node together, unpacked. */
  readonly imagesGiB: number;
}

/** What limits the pods of a node. */
export type Limit = 'addresses' | 'maxPods' | 'cpu' | 'memory';

/** The size of a pool with one instance type. */
export interface TypeSize {
  readonly instanceType: string;
  readonly vCpus: number;
  readonly memoryMiB: number;
  /** The mode of nodes of that type. */
  readonly mode: AddressMode['kind'];
  /** The memory that pods can request, in MiB. */
  readonly memoryForPodsMiB: number;
  /** How many pods of a node each limit allows. Without a request for CPU or memory, that resource does not limit them. */
  readonly limits: Readonly<Partial<Record<Limit, number>>>;
  readonly podsPerNode: number;
  /** The limits that allow no more pods than that. */
  readonly limitedBy: readonly Limit[];
  /** The IP addresses of a node: before it has pods, with `podsPerNode` pods, and with as many as its interface allows. */
  readonly addressesPerNode: { readonly atStart: number; readonly withPods: number; readonly whenFull: number };
  /** null: no pod fits on a node. */
  readonly nodes: number | null;
  /** Those that run on these nodes. */
  readonly pods: number;
  /** Of all nodes, with their pods. */
  readonly addresses: number | null;
  readonly subnet?: {
    readonly prefix: string;
    readonly usableAddresses: number;
    /** The most nodes in one empty subnet: before they have pods, and with their pods. */
    readonly nodesAtStart: number;
    readonly nodesWithPods: number;
    /** How many empty subnets the nodes need; null: not even one node fits. */
    readonly subnets: number | null;
  };
  /** To replace all nodes, one after the other. */
  readonly replacementMinutes: { readonly from: number; readonly to: number } | null;
}

/** The size of a pool. */
export interface Size {
  readonly types: readonly TypeSize[];
  /** In MiB: what the kubelet reserves, and its eviction threshold, which pods cannot request either. */
  readonly memory: { readonly reservedMiB: number; readonly evictionMiB: number };
  /** In GiB: the least that EC2 accepts, and what the images need. */
  readonly rootVolume: { readonly leastGiB: number; readonly imagesGiB: number; readonly recommendedGiB: number };
  readonly replacement: readonly Phase[];
  readonly priceDrivers: readonly PriceDriver[];
}

const MIB = 1024 ** 2;

/** The memory below which a kubelet evicts pods unless it is configured otherwise, in MiB. */
const EVICTION_MIB = (parseQuantity(DEFAULT_EVICTION_HARD['memory.available']) ?? 0) / MIB;

/** Sizes a pool for each of the instance types. */
export function sizeOf(request: SizeRequest): Size {
  const { imagesGiB, reservedMiB } = request;
  return {
    types: request.types.map((type) => sizeOn(type, request)),
    memory: { reservedMiB, evictionMiB: EVICTION_MIB },
    rootVolume: { leastGiB: DEFAULT_DISK_GIB, imagesGiB, recommendedGiB: rootVolumeFor(imagesGiB) },
    replacement: REPLACEMENT_PHASES,
    priceDrivers: PRICE_DRIVERS,
  };
}

function sizeOn(type: SizedType, request: SizeRequest): TypeSize {
  const mode = defaultMode(request.mode);
  const memoryForPodsMiB = Math.max(0, type.memoryMiB - request.reservedMiB - EVICTION_MIB);
  const limits = limitsOf(type, mode, memoryForPodsMiB, request);
  const perNode = Math.min(...Object.values(limits));
  const limitedBy = (Object.keys(limits) as Limit[]).filter((limit) => limits[limit] === perNode);
  const nodes =
    request.nodes ?? (request.pods === undefined ? 1 : perNode > 0 ? Math.ceil(request.pods / perNode) : null);
  const withPods = addressesWith(perNode, mode, type);
  const { subnetPrefix } = request;
  return {
    instanceType: type.name,
    vCpus: type.vCpus,
    memoryMiB: type.memoryMiB,
    mode: modeOn(mode, type).kind,
    memoryForPodsMiB,
    limits,
    podsPerNode: perNode,
    limitedBy,
    addressesPerNode: {
      atStart: addressesAtStart(mode, type),
      withPods,
      whenFull: addressesWhenFull(mode, type) ?? withPods,
    },
    nodes,
    pods: Math.min(request.pods ?? Number.POSITIVE_INFINITY, (nodes ?? 0) * perNode),
    addresses: nodes === null ? null : nodes * withPods,
    ...(subnetPrefix !== undefined && { subnet: subnetOf(subnetPrefix, perNode, nodes, mode, type) }),
    replacementMinutes: nodes === null ? null : replacementMinutes(nodes),
  };
}

function limitsOf(
  type: SizedType,
  mode: AddressMode,
  memoryForPodsMiB: number,
  { maxPods, cpu, memoryMiB }: SizeRequest,
): Partial<Record<Limit, number>> {
  return {
    addresses: podsPerNode(mode, type) ?? 0,
    maxPods,
    ...(cpu !== undefined && { cpu: fitting(type.vCpus, cpu) }),
    ...(memoryMiB !== undefined && { memory: fitting(memoryForPodsMiB, memoryMiB) }),
  };
}

/** How often a request fits, as the scheduler counts it: CPU in thousandths, and memory in bytes. Fractions of these would be rounded wrongly. */
function fitting(available: number, request: number): number {
  const FINEST = 1024 ** 2 * 1000;
  return Math.floor(Math.round(available * FINEST) / Math.round(request * FINEST));
}

function subnetOf(
  prefixLength: number,
  pods: number,
  nodes: number | null,
  mode: AddressMode,
  type: SizedType,
): NonNullable<TypeSize['subnet']> {
  const nodesWithPods = nodesInSubnet(prefixLength, pods, mode, type);
  return {
    prefix: `/${prefixLength}`,
    usableAddresses: usableAddresses(prefixLength),
    nodesAtStart: nodesInSubnet(prefixLength, 0, mode, type),
    nodesWithPods,
    subnets: nodes === null || nodesWithPods === 0 ? null : Math.ceil(nodes / nodesWithPods),
  };
}
