/** Nodes, and the lists of hosts that become nodes. */
import type { CallError, CallResult } from './callResult.ts';

export type TaintEffect = 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule';

/** A taint in Kubernetes' spelling; the EKS adapter translates the effect. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

/** A condition of a Node, without its times. */
export interface NodeCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** What the operator keeps of a Node. */
export interface NodeRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** The annotation winpool.dev/claim: empty when there is none, undefined when the node has no annotations at all. */
  readonly ownership: string | undefined;
  /** Those of its annotations that say whether it is to go, and what was done for that: ORDER_ANNOTATIONS by their keys. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly providerID: string;
  /** Whether it is cordoned. */
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  /** The Ready condition's status; `Unknown` when there is none. */
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly readyReason: string;
  /** The condition winpool.dev/Verified. */
  readonly verified: NodeCondition | undefined;
  /** Epoch milliseconds since when that has its status; 0 when there is none. */
  readonly verifiedSince: number;
  readonly kernelVersion: string;
  readonly containerRuntimeVersion: string;
  /** Names of the handlers that RuntimeClasses can name, the default one as ''; empty where containerd does not report them (before 2.0). */
  readonly runtimeHandlers: readonly string[];
  readonly kubeletVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  /** IP addresses and DNS names by which the node is reached, each once, in the order of `status.addresses`. */
  readonly addresses: readonly string[];
  /** Kubernetes quantities: memory, vpc.amazonaws.com/PrivateIPv4Address and the rest. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * A list of Windows hosts as it is known.
 * - `unknown`: it was not read yet, or could not be: then `trouble` says why.
 * - `absent`: there is no such ConfigMap.
 */
export type InstanceList =
  | { readonly kind: 'unknown'; readonly error?: CallError }
  | { readonly kind: 'absent' }
  | { readonly kind: 'seen'; readonly data: Readonly<Record<string, string>> };

export interface InstanceLists {
  /** From the API server, past every cache. Never `unknown`: a list that cannot be read is trouble. */
  read(
    list: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<CallResult<InstanceList>>;
}

/** What a pool of existing nodes writes to a node, all of it at once. */
export interface NodeMarks {
  /** Labels with their values; null removes a label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly taints: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] };
  /** The annotation winpool.dev/claim; undefined removes it. */
  readonly ownership: string | undefined;
}

export interface Nodes {
  /** From the API server, past every cache and whatever its labels are; undefined when there is none of this name. */
  read(name: string, signal: AbortSignal): Promise<CallResult<NodeRecord | undefined>>;
  /** All nodes of a node group, past every cache: some megabytes for a thousand. */
  ofGroup(group: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** The nodes of Windows that have the label winpool.dev/pool of this pool, past every cache. */
  ofPool(pool: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** The nodes that have the label winpool.dev/pool of this pool and do not say that they run Windows: no watch brings them. */
  outside(pool: string, signal: AbortSignal): Promise<CallResult<readonly NodeRecord[]>>;
  /** Sets one label, only on the very node that was observed (its uid is a precondition). */
  setLabel(node: NodeRecord, key: string, value: string, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Sets and removes taints, by key and effect; the others stay as they are. Only on the very version of the node that was observed: the
   * trouble `conflict` when it changed since, because then the verdict on it may be another.
   */
  setTaints(
    node: NodeRecord,
    change: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] },
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** Writes labels, taints and record in one call, only on the very version of the node that was observed, as setTaints does. */
  setMarks(node: NodeRecord, marks: NodeMarks, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Cordons the very version of the node that was observed, and records in its annotation winpool.dev/cordoned whether it was cordoned
   * before.
   */
  cordon(node: NodeRecord, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Takes the operator's cordon and its record from the very version of the node that was observed, and gives an annotation of it another
   * value. The cordon of somebody else stays.
   */
  restore(
    node: NodeRecord,
    answer: { readonly key: string; readonly value: string } | undefined,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /**
   * Writes the condition winpool.dev/Verified of the very node that was observed, or removes it. `now`, in epoch milliseconds, becomes its
   * time of transition where its status changes.
   */
  setVerified(
    node: NodeRecord,
    condition: NodeCondition | undefined,
    now: number,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
}
