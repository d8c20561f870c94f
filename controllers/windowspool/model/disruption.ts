/** Nodes that are being drained and terminated, and what a pool knows of the disruption of others. */
import type { LeavingNode, WindowsPoolStatus } from '../api.gen.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { KnownInstance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { StepError } from './stepError.ts';

/** A pod that a PodDisruptionBudget, or admission, kept on its node. */
export interface BlockedPod {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  /** undefined: several budgets match it. */
  readonly budget: string | undefined;
  /** What of admission kept it, and no budget: `admission webhook guard.example.com`. */
  readonly admission?: string;
}

/** A node that goes, as the API server and EC2 tell it. */
export interface TerminatingNodeView {
  readonly entry: LeavingNode;
  /** undefined: it is gone. */
  readonly node: CallResult<NodeRecord | undefined>;
  /** Its instance, asked for until the node is cordoned, and where there is no node; undefined: not asked for. */
  readonly instance?: CallResult<KnownInstance | undefined>;
  /** Of a pool of existing nodes: whether the node is the pool's, by what both say past every cache; undefined: not asked for. */
  readonly member?: CallResult<boolean>;
  /** The pods on it; undefined: not asked for. */
  readonly pods?: CallResult<readonly DrainPod[]>;
}

/** The nodes of a pool, as far as it matters whether another one may go. */
export interface NodeCount {
  readonly total: number;
  /** Names of those that take no pods: cordoned, or not Ready. */
  readonly unavailable: readonly string[];
}

/** All nodes of a pool that go. */
export interface DrainState {
  /** Whether it was looked at in this run: what is done follows from no other look. */
  readonly fresh: boolean;
  /** Epoch milliseconds of the next look. */
  readonly nextAt: number;
  readonly nodes: readonly TerminatingNodeView[];
  /** Pods that budgets or admission kept at the last pass. */
  readonly blocked: readonly BlockedPod[];
  /** What failed at the last pass and does so for a long time: told until the next one, or conditions would turn to and fro. */
  readonly errors?: readonly StepError[];
}

/** Why a pool loses nodes, and since when. */
export type DisruptionReservation = NonNullable<WindowsPoolStatus['disruption']>;

/** The cause of a claim for nodes that go one by one. */
export const NODE_OPERATION = 'NodeOperation';

/** The other pools, as far as they matter to one. Names are sorted, so that equal fleets read alike. */
export interface FleetView {
  /** Pools that lose nodes now, or that may begin to at any moment. */
  readonly disrupted: readonly string[];
  /** Nodes of them that fail verification for what is in their release, one for each pool. */
  readonly failures: readonly ReleaseFailure[];
}

/** A node of a pool that fails verification, and the release that it was made from. */
export interface ReleaseFailure {
  readonly pool: string;
  readonly amiType: string;
  readonly releaseVersion: string;
  readonly node: string;
  /** What was found: `WrongBuild: runs build ...`. */
  readonly finding: string;
}

/**
 * - `draining`: its pods are being asked to go, or are about to be.
 * - `blocked`: pods keep it, and somebody has to let them go.
 * - `ending`: the end of its instance was asked for.
 * - `drained`: the operator is done with it, and something else is to end it.
 */
export type TerminatingStage = 'draining' | 'blocked' | 'ending' | 'drained';

/** What is next for a node that goes. */
export type DrainAction =
  /** Nothing to do now: it is gone, ends, or could not be looked at. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'cordon' }
  | { readonly kind: 'evict'; readonly pods: readonly DrainPod[] }
  | { readonly kind: 'end' }
  /** Something else ends it: that is told, and no more is done. */
  | { readonly kind: 'report'; readonly text: string }
  /** It stays; `answer` takes the place of the annotation's value. */
  | { readonly kind: 'restore'; readonly answer?: 'timed-out' | 'refused' | 'uncordoned'; readonly why?: string };
