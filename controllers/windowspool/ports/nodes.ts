/** Nodes, and the lists of instances that become nodes. */
import { OWN_CONDITIONS, VERIFIED_CONDITION } from '../api/labels.ts';
import type { CallError, CallResult } from './callResult.ts';

/** The effect of a taint. */
export type TaintEffect = 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule';

/** A taint in the notation of Kubernetes; the EKS adapter translates the effect. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

/** A condition of a Node without its timestamps. */
export interface NodeCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** The type of a condition that the operator sets on nodes. */
export type OwnCondition = (typeof OWN_CONDITIONS)[number];

/** The conditions that a Node should have, by type. A type that is missing is removed. */
export type NodeReport = Readonly<Partial<Record<OwnCondition, NodeCondition>>>;

/** The status of a condition of the operator on a node; undefined if the node does not have it. */
export function ownStatus(
  { verified, conditions }: Pick<NodeRecord, 'verified' | 'conditions'>,
  type: OwnCondition,
): NodeCondition['status'] | undefined {
  if (type === VERIFIED_CONDITION) return verified?.status;
  return (['True', 'False', 'Unknown'] as const).find((status) => conditions.includes(`${type}=${status}`));
}

/** Whether the node has a condition of the operator. */
export function hasOwnCondition(node: Pick<NodeRecord, 'verified' | 'conditions'>): boolean {
  return OWN_CONDITIONS.some((type) => ownStatus(node, type) !== undefined);
}

/** The resources whose quantities the operator reads. */
export const NODE_RESOURCES = [
  'memory',
  'cpu',
  'ephemeral-storage',
  'pods',
  'vpc.amazonaws.com/PrivateIPv4Address',
] as const;

/**
 * The fields of a Node that the operator caches. Texts that a kubelet sets are cut and cleaned (foreignText); of its lists, addresses, conditions,
 * images and runtime handlers beyond those of any real node are left out.
 */
export interface NodeRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** The annotation winpool.dev/ownership: empty when absent, undefined when the node has no annotations at all. */
  readonly ownership: string | undefined;
  /** The annotations that request and record node operations: the keys in OPERATION_ANNOTATIONS. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly providerID: string;
  /** Whether it is cordoned. */
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  /** The Ready condition's status; `Unknown` when there is none. */
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly readyReason: string;
  /** What the kubelet says while the node is not Ready, without durations, which change with each heartbeat; empty for a node that is Ready. */
  readonly readyMessage: string;
  /** The condition winpool.dev/Verified. */
  readonly verified: NodeCondition | undefined;
  /** When that condition got its status, in epoch milliseconds; 0 when it is absent. */
  readonly verifiedSince: number;
  /** The other conditions as `TYPE=STATUS`, such as `DiskPressure=False`, in the order of the Node. Those of the operator are never left out. */
  readonly conditions: readonly string[];
  /**
   * Names of the largest images, with tags and with digests; the kubelet reports 50 images by default. Undefined: they were not read, because no pool
   * needed them.
   */
  readonly images: readonly string[] | undefined;
  readonly kernelVersion: string;
  readonly containerRuntimeVersion: string;
  /** Names of the handlers that RuntimeClasses can name, the default one as ''; empty when containerd does not report them (before 2.0). */
  readonly runtimeHandlers: readonly string[];
  readonly kubeletVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  /** The IP addresses and DNS names of the node, each once, in the order of `status.addresses`. */
  readonly addresses: readonly string[];
  /** The Kubernetes quantities of NODE_RESOURCES. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** What could not be read, such as `status.addresses: a number instead of a list`; empty for every node that an API server sends. */
  readonly unreadable: string;
}

/**
 * The last known content of a list of Windows instances.
 * - `unknown`: it was not read yet, or the read failed with `error`.
 * - `absent`: the ConfigMap does not exist.
 */
export type InstanceList =
  | { readonly kind: 'unknown'; readonly error?: CallError }
  | { readonly kind: 'absent' }
  | { readonly kind: 'seen'; readonly data: Readonly<Record<string, string>>; readonly hosts?: Hosts };

/** What look-ups found for the entries of a list, by the entry in lower case. The same object for the same content. */
export type Hosts = ReadonlyMap<string, Host>;

/** What a look-up found: the IPv4 addresses of a DNS name, or the DNS names of an IPv4 address. */
export interface Host {
  /** The last ones that were found, in lower case. */
  readonly addresses: readonly string[];
  /** Why the last look-up failed, such as `ETIMEOUT`; empty if it did not, or if the answer was that there are none. */
  readonly error: string;
}

/** Reads instance lists. */
export interface InstanceLists {
  /** From the API server, uncached. Never `unknown`: a list that cannot be read is an error. */
  read(
    list: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<CallResult<InstanceList>>;
}

/** What a pool of existing nodes writes to a node in one call. */
export interface NodeMarks {
  /** Labels with their values; null removes a label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly taints: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] };
  /** The annotation winpool.dev/ownership; undefined removes it. */
  readonly ownership: string | undefined;
}

/** Nodes in the API server. Reads are uncached; writes apply only to the observed node. */
export interface Nodes {
  /** One node, whatever its labels; undefined when it does not exist. */
  read(name: string, signal: AbortSignal): Promise<CallResult<NodeRecord | undefined>>;
  /** All nodes of a node group: some megabytes for a thousand. */
  ofGroup(group: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** The Windows nodes with the label winpool.dev/pool of this pool. */
  ofPool(pool: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** The nodes with the label winpool.dev/pool of this pool that are not labelled as Windows nodes, which the watch does not cover. */
  outside(pool: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** Sets one label; the UID of the node is a precondition. */
  setLabel(node: NodeRecord, key: string, value: string, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Sets and removes taints by key and effect, and keeps all others. Error `conflict` if the resourceVersion of the node changed, because its
   * verification result may have changed too.
   */
  setTaints(
    node: NodeRecord,
    change: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] },
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** Writes labels, taints and ownership record in one call, with the precondition of setTaints. */
  setMarks(node: NodeRecord, marks: NodeMarks, signal: AbortSignal): Promise<CallResult<void>>;
  /** Cordons the node with the precondition of setTaints, and records in its annotation winpool.dev/cordoned whether it was cordoned before. */
  cordon(node: NodeRecord, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Removes the operator's cordon and its record from the node with the precondition of setTaints, and sets an annotation. A cordon by another
   * controller or user stays.
   */
  restore(
    node: NodeRecord,
    answer: { readonly key: string; readonly value: string } | undefined,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /**
   * Writes the conditions of the operator in one call, and removes those that `report` lacks; the UID of the node is a precondition. `now` (epoch
   * milliseconds) becomes lastTransitionTime of a condition whose status changes.
   */
  setConditions(node: NodeRecord, report: NodeReport, now: number, signal: AbortSignal): Promise<CallResult<void>>;
}
