/** The nodes of a pool as they were verified: what nodes/poolNodes.ts keeps up to date, one node at a time. */
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { NodeCondition, NodeMarks, NodeRecord, Taint } from '../ports/nodes.ts';
import type { NodeCheck } from '../reasons.ts';

/** What plan and conditions may look at. Lists are sorted by node name, so that equal pools read alike. */
export interface PoolNodesView {
  readonly total: number;
  readonly ready: number;
  readonly verified: number;
  /** Verdicts of nodes that fail an enforced check. */
  readonly failing: readonly VerificationResult[];
  readonly joining: readonly VerificationResult[];
  /** Verified nodes with a warning. */
  readonly warned: readonly VerificationResult[];
  /** Nodes whose windows-build label differs from their kernel. */
  readonly mislabelled: readonly NodeRecord[];
  /** Nodes whose taints differ from what their verdicts ask for. */
  readonly mistainted: readonly Mistainted[];
  /** Nodes whose condition does not say what was found. */
  readonly unreported: readonly Unreported[];
  /** Nodes that lack labels or taints of their pool, or the record of what they had: of a pool of existing nodes only. */
  readonly unmarked: readonly Unmarked[];
  /** Nodes that are to be replaced or removed. */
  readonly ordered: readonly NodeRecord[];
  /** Nodes with the record of a cordon for being replaced or removed. */
  readonly cordoned: readonly NodeRecord[];
  /** Names of nodes that are cordoned or not Ready. */
  readonly unavailable: readonly string[];
  /** How many nodes have the gate's taint, and how many the quarantine's. */
  readonly gated: number;
  readonly quarantined: number;
  /** Kernel version -> how many nodes have it. */
  readonly builds: ReadonlyMap<string, number>;
  /** How many nodes are below verification.minimumRevision, or do not tell their revision; also where that only warns. */
  readonly belowMinimum: number;
  /** How many addresses the nodes have for pods; undefined where none of them tells. */
  readonly podAddresses: number | undefined;
  /** When the first verdict on a joining node turns by itself, epoch milliseconds; infinity when none is joining. */
  readonly nextGraceEnd: number;
  /** Nodes that are there and lack the label by which they are the pool's. Not in any of the counts. */
  readonly unlabelledNodes: readonly NodeRecord[];
  /** When nodes that left may be looked for again, epoch milliseconds; infinity when none did. */
  readonly nextReadAt: number;
  /** The nodes that were there before a time, in epoch milliseconds, by name. */
  nodesBefore(time: number): readonly NodeRecord[];
  /** Whether the node is here and has the labels and taints of its pool of existing nodes. */
  isMarked(name: string): boolean;
  /** Whether this EC2 instance is one of the nodes. */
  hasInstance(id: string): boolean;
}

export interface Unreported {
  readonly node: NodeRecord;
  /** What the condition should be; undefined: none. */
  readonly condition: NodeCondition | undefined;
}

export interface Unmarked {
  readonly node: NodeRecord;
  readonly change: NodeMarks;
}

export interface Mistainted {
  readonly node: NodeRecord;
  readonly change: TaintChange;
}

export interface CheckFailure {
  readonly reason: NodeCheck;
  /** What was found and what was expected. */
  readonly message: string;
}

/**
 * - `verified`: Ready, and every enforced check passes.
 * - `joining`: fails only what a new node needs some time for, and is younger than the join grace.
 * - `failing`: fails an enforced check.
 */
export interface VerificationResult {
  readonly node: NodeRecord;
  readonly state: 'verified' | 'joining' | 'failing';
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly CheckFailure[];
}

/** What the checks compare with. */
export interface Expectation {
  readonly spec: WindowsPoolSpec;
  /** The API server's version, such as `v1.36.3`; undefined when it is not known, then kubelets are not compared with it. */
  readonly serverVersion: string | undefined;
  /** How long a new node may take to be Ready and to get pod addresses, in milliseconds. */
  readonly joinGraceMs: number;
  /** How long a new node may lack the registration taint, in milliseconds; absent where its group has none that could come late. */
  readonly settlingMs?: number;
  /** What follows for the taints of the nodes. */
  readonly taints: TaintPolicy;
  /** The pool that tells its nodes what was found; undefined: nodes keep no condition of the operator. */
  readonly reportedBy: string | undefined;
  /** The pool of existing nodes that marks them itself; absent where their node group does. */
  readonly owner?: string;
}

/** Which of its taints the operator keeps on nodes. Where one is not kept it is taken away. */
export interface TaintPolicy {
  /** A node that has the gate's taint keeps it until it is verified. */
  readonly gate: boolean;
  /** A node that fails gets the quarantine's taint. */
  readonly quarantine: boolean;
}

/** The taints that a node is to get and to lose; a taint is one key with one effect. */
export interface TaintChange {
  readonly set: readonly Taint[];
  readonly remove: readonly Taint[];
}
