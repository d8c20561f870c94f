/** Nodes that are drained and terminated, and what a pool knows of the disruption of other pools. */
import type { LeavingNode, MaintenanceWindow, WindowsPoolStatus } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { KnownInstance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';

/** A pod whose eviction a PodDisruptionBudget or admission blocked. */
export interface BlockedPod {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  /** The budget that blocked it; undefined: several budgets match the pod. */
  readonly budget: string | undefined;
  /** The admission that blocked it, when no budget did: `admission webhook guard.example.com`. */
  readonly admission?: string;
}

/** A terminating node, as read from the API server and EC2. */
export interface TerminatingNodeView {
  readonly entry: LeavingNode;
  /** undefined: the node is gone. */
  readonly node: CallResult<NodeRecord | undefined>;
  /** Its instance, read until the node is cordoned, and when there is no node; undefined: not read. */
  readonly instance?: CallResult<KnownInstance | undefined>;
  /** For a pool of existing nodes: whether the node still belongs to the pool, by uncached reads of both; undefined: not read. */
  readonly member?: CallResult<boolean>;
  /** What became of its instance, whose termination AWS accepted; undefined: AWS accepted none, or it was not read. */
  readonly accepted?: CallResult<AcceptedTermination>;
  /** The pods on the node; undefined: not read. */
  readonly pods?: CallResult<readonly DrainPod[]>;
}

/**
 * What became of an instance whose termination AWS accepted.
 * - `pending`: it is going, as far as is known.
 * - `left`: it left the group for its warm pool, or for good, and may be back.
 * - `inService`: long after, it still serves, as if its termination had not been requested.
 */
export type AcceptedTermination = 'pending' | 'left' | 'inService';

/** The nodes of a pool, as far as they decide whether another one may be drained. */
export interface NodeCount {
  readonly total: number;
  /** Names of nodes that are cordoned or not Ready. */
  readonly unavailable: readonly string[];
}

/** What is done with a node. No annotation requests `DrainNodeGroup`: the node group of the node is replaced by another one, or was a canary. */
export type Operation = 'Replace' | 'Remove' | 'DrainNodeGroup';

/** Why a requested operation is not carried out. */
export interface Refusal {
  readonly node: string;
  readonly operation: Operation;
  readonly reason: Reason;
  /** The rest of a sentence, without its full stop. */
  readonly why: string;
  /** It ends with a command. */
  readonly remedy: string;
}

/** A requested node, as status will record it. */
export interface Candidate extends Pick<LeavingNode, 'name' | 'uid' | 'instanceID' | 'reason'> {
  readonly operation: Operation;
}

/** Why no node is remediated, in sentences. */
export interface Halt {
  readonly reason: Reason;
  readonly message: string;
}

/** Which of the requested nodes start now, wait, or are refused. */
export interface Admission {
  readonly begin: readonly Candidate[];
  /** Names of nodes. */
  readonly waiting: readonly string[];
  /** What the waiting nodes wait for. */
  readonly waitsFor: string;
  /**
   * What ends that wait: the release of a share of the disruption budget, which other pools or a rolling update of this pool have; the next read of the
   * group or its nodes; or a change of a node.
   */
  readonly waitsOn: 'pools' | 'read' | 'watch';
  readonly refused: readonly Refusal[];
  /** Why no node is remediated. */
  readonly halted?: Halt;
}

/** The start of a maintenance window, in epoch milliseconds. */
export interface Opening {
  readonly at: number;
  readonly window: MaintenanceWindow;
}

/** Why a pool disrupts nodes, and since when. */
export type DisruptionReservation = NonNullable<WindowsPoolStatus['disruption']>;

/** The reason of a reservation for nodes that are replaced, removed or remediated one at a time. */
export const NODE_REPLACEMENT = 'NodeReplacement';

/** The other pools, as far as they matter to one pool. Names are sorted, so that equal values compare equal. */
export interface OtherPools {
  /** Pools that disrupt nodes now, or may start to at any moment. */
  readonly disrupted: readonly string[];
  /** When those that only go first no longer do, in epoch milliseconds. */
  readonly until?: number;
  /** Nodes of them that fail verification because of their release, one for each release of a pool. */
  readonly failures: readonly ReleaseFailure[];
}

/** A node of a pool that fails verification, or of a canary that failed, and what it was created from. */
export interface ReleaseFailure {
  readonly pool: string;
  /** The AMI type, or the kind of an infrastructure template of Cluster API. */
  readonly kind: string;
  /** The release or custom AMI of this type, or what identifies the template. */
  readonly release: string;
  readonly node: string;
  /** The failed check: `WrongBuild: runs build ...`. */
  readonly finding: string;
  /** Whether it was a node of a canary, which the operator has deleted, or is about to. */
  readonly onCanary?: true;
}

/**
 * The stage of a terminating node.
 * - `draining`: its pods are being evicted, or are about to be.
 * - `blocked`: pods block the drain and need human action.
 * - `ending`: the termination of its instance was requested.
 * - `drained`: the operator is done; another tool must terminate it.
 */
export type TerminatingStage = 'draining' | 'blocked' | 'ending' | 'drained';

/**
 * The stage of the replacement of a node group.
 * - `creating`: EKS creates the main group.
 * - `verifying`: it does not have enough verified nodes.
 * - `draining`: the nodes of the second group leave.
 * - `blocked`: one of them could not be drained, and the operator waits before it tries again.
 * - `deleting`: the second group has no nodes left.
 */
export type ReplacementStage = 'creating' | 'verifying' | 'draining' | 'blocked' | 'deleting';

/**
 * The stage of a canary.
 * - `creating`: EKS creates its node group.
 * - `verifying`: not all of its nodes are verified.
 * - `waiting`: they are, but not for long enough.
 * - `passed`: the main group is updated next, or is being updated.
 * - `draining`, `blocked`, `deleting`: as in a replacement.
 */
export type CanaryStage = 'creating' | 'verifying' | 'waiting' | 'passed' | 'draining' | 'blocked' | 'deleting';

/** The value of the annotation of a node whose instance left the group for its warm pool. */
export const LEFT_ANSWER = 'left';
