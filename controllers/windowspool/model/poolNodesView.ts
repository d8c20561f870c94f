/** The verification results of a pool's nodes, which nodes/poolNodes.ts keeps up to date one node at a time. */
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import type { NodeCheck } from '../api/reasons.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { NodeMarks, NodeRecord, NodeReport, Taint } from '../ports/nodes.ts';
import type { ControllerWarning } from '../ports/prerequisites.ts';
import type { NodePodNeed } from './nodePodNeeds.ts';

/** What plan and conditions may use. Lists are sorted by node name, so that equal pools compare equal. */
export interface PoolNodesView {
  /** What the nodes are verified against. */
  readonly expected: Expectation;
  readonly total: number;
  readonly ready: number;
  readonly verified: number;
  /** Nodes that fail an enforced check. */
  readonly failing: readonly VerificationResult[];
  readonly joining: readonly VerificationResult[];
  /** Verified nodes with a warning. */
  readonly warned: readonly VerificationResult[];
  /** Nodes whose windows-build label differs from their kernel. */
  readonly mislabelled: readonly NodeRecord[];
  /** Nodes whose taints do not match their verification result. */
  readonly mistainted: readonly Mistainted[];
  /** Nodes whose condition does not match their verification result. */
  readonly unreported: readonly Unreported[];
  /** Nodes of a pool of existing nodes that lack its labels or taints, or the ownership record. */
  readonly unmarked: readonly Unmarked[];
  /** Nodes that are annotated to be replaced or removed. */
  readonly requested: readonly NodeRecord[];
  /** Nodes with the record of a cordon for a replacement or removal. */
  readonly cordoned: readonly NodeRecord[];
  /** Names of nodes that are cordoned or not Ready, or that a NodeReadinessRule keeps pods off. */
  readonly unavailable: readonly string[];
  /** How many nodes have a gate taint, the operator's or one of a NodeReadinessRule, and how many the quarantine taint. */
  readonly gated: number;
  /** How many verified nodes a NodeReadinessRule keeps pods off. */
  readonly awaitingRule: number;
  readonly quarantined: number;
  /** Kernel version -> number of nodes. */
  readonly builds: ReadonlyMap<string, number>;
  /** How many nodes are below verification.minimumRevision or do not report their revision; also where that only warns. */
  readonly belowMinimum: number;
  /** The number of pod addresses of all nodes; undefined when no node reports any. */
  readonly podAddresses: number | undefined;
  /** When the join grace of the first joining node ends, in epoch milliseconds; Infinity when none is joining. */
  readonly nextGraceEnd: number;
  /** New nodes on which the operator runs pods. */
  readonly podNeeds: readonly NodePodNeed[];
  /** When the first of them changes without any event, in epoch milliseconds; Infinity if none does. */
  readonly nextPodAt: number;
  /** Nodes with the label of one of the groups whose instance is not in its scaling groups. Not in any of the counts. */
  readonly nonMembers: readonly NodeRecord[];
  /** Whether AWS was asked about every node that is not on an instance of the groups. */
  readonly isConfirmed: boolean;
  /** Whether there is a result for the node with this name. */
  has(name: string): boolean;
  /** Whether the node counts as one of the pool's. */
  isMember(node: NodeRecord): boolean;
  /** Whether the list of the groups' instances has the node: its label alone proves nothing. Also true while there is no list. */
  isListed(node: NodeRecord): boolean;
  /** The node group of a node: that of its instance, or its label while the instance is not listed. */
  groupOf(node: NodeRecord): string | undefined;
  /** The counts of the nodes of one group. The cost grows with the number of nodes. */
  inGroup(group: string): GroupNodes;
  /** Nodes that exist without the label that makes them members of the pool. Not in any of the counts. */
  readonly unlabelledNodes: readonly NodeRecord[];
  /** When nodes that left may be read again, in epoch milliseconds; Infinity when there are none. */
  readonly nextReadAt: number;
  /** The nodes created before a time (epoch milliseconds), by name. */
  nodesBefore(time: number): readonly NodeRecord[];
  /** Whether the node is in the pool and has its labels and taints (pools of existing nodes). */
  isMarked(name: string): boolean;
  /** What was last read, without an error if it ever was, of the events of a node that has no pod addresses; undefined if nothing was. */
  controllerAnswer(name: string): ControllerAnswer | undefined;
  /** Whether this EC2 instance is one of the nodes. */
  hasInstance(id: string): boolean;
}

/** The nodes of one of the pool's node groups. Lists are sorted by node name. */
export interface GroupNodes {
  readonly nodes: readonly NodeRecord[];
  readonly total: number;
  readonly ready: number;
  /** Verified nodes that accept pods. */
  readonly verified: number;
  readonly unavailable: readonly string[];
}

/** The instances of a pool's node groups, as EC2 Auto Scaling lists them. */
export interface GroupMembers {
  /** The node group of each instance, by instance ID. */
  readonly groupOfInstance: ReadonlyMap<string, string>;
  /** The node groups that are too new to be listed: for their nodes, the label decides. */
  readonly unlisted: ReadonlySet<string>;
}

/** A node whose condition has to be written. */
export interface Unreported {
  readonly node: NodeRecord;
  /** The desired conditions. */
  readonly report: NodeReport;
}

/** A node whose labels, taints or ownership record have to be written. */
export interface Unmarked {
  readonly node: NodeRecord;
  readonly change: NodeMarks;
}

/** A node whose taints have to be corrected. */
export interface Mistainted {
  readonly node: NodeRecord;
  readonly change: TaintChange;
}

/** A check that failed or warns. */
export interface CheckFailure {
  readonly reason: NodeCheck;
  /** What was found and what was expected. */
  readonly message: string;
  /** The operator's pods on the node are working on it, which may take longer than the join grace. */
  readonly isInProgress?: true;
  /** What it depends on was not read yet: the node is joining until then. */
  readonly isUnread?: true;
  /** Waiting does not help: the node has no join grace. */
  readonly isLasting?: true;
  /** What to do about it, in sentences, where the evidence says more than the check; empty if the message has it. */
  readonly remedy?: string;
}

/** What the VPC resource controller reports of a node. */
export interface ControllerAnswer {
  readonly uid: string;
  /** When it was last asked for, in epoch milliseconds. */
  readonly at: number;
  readonly answer: CallResult<readonly ControllerWarning[]>;
}

/**
 * The verification result of a node.
 * - `verified`: Ready, and every enforced check passes.
 * - `joining`: fails only checks that a new node needs time for, and is younger than the join grace, or than what the operator's pods may take.
 * - `failing`: fails an enforced check.
 */
export interface VerificationResult {
  readonly node: NodeRecord;
  readonly state: 'verified' | 'joining' | 'failing';
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly CheckFailure[];
}

/** What follows for nodes from what creates them. */
export interface GroupExpectation {
  /** Whether nodes are created with the gate taint. */
  readonly hasGateTaint: boolean;
  /** How long a new node may lack the registration taint, in milliseconds; absent when its group has no taint that EKS adds late. */
  readonly settlingMs?: number;
}

/** What the checks compare nodes with. */
export interface Expectation extends Omit<GroupExpectation, 'hasGateTaint'> {
  readonly spec: WindowsPoolSpec;
  /** The API server's version, such as `v1.36.3`; undefined when unknown: kubelets are not compared with it. */
  readonly serverVersion: string | undefined;
  /** How long a new node may take to be Ready and to get pod addresses, in milliseconds. */
  readonly joinGraceMs: number;
  /** The operator's taints that the nodes should have. */
  readonly taints: TaintPolicy;
  /** The pool that reports verification results on its nodes; undefined: nodes get no condition. */
  readonly reportedBy: string | undefined;
  /** The pool of existing nodes that sets the marks itself; absent when the node group does. */
  readonly owner?: string;
  /** The annotation winpool.dev/retry of the pool; absent if it has none. */
  readonly retry?: string;
  /** The labels and taints that this pool may undo, as status records them. */
  readonly marks?: readonly string[];
}

/** Which of its taints the operator keeps on nodes. It removes the others. */
export interface TaintPolicy {
  /** A node that has the gate taint keeps it until it is verified. */
  readonly gate: boolean;
  /** A node that fails gets the quarantine taint. */
  readonly quarantine: boolean;
}

/** The taints to set on a node and to remove from it. A taint is identified by key and effect. */
export interface TaintChange {
  readonly set: readonly Taint[];
  readonly remove: readonly Taint[];
}
