/** What was seen of nodes that go. Pure. */
import type { LeavingNode } from '../api.gen.ts';
import { instanceIdOf } from '../nodes/departures.ts';
import type { CallResult } from '../ports/answer.ts';
import type { KnownInstance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { StepError } from '../situation.ts';
import { isOver } from './endInstance.ts';

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

/** Whether it is an instance that never became a node: it is remembered by its own id in place of a UID. */
export function isNodeless({ uid, instance }: Pick<LeavingNode, 'uid' | 'instance'>): boolean {
  return uid === instance;
}

/**
 * Whether nothing is left to do: the node is gone, or the instance that was none has ended, or has become one. A node whose instance ends and
 * that is deleted is gone, too: a finalizer of somebody else may hold it for ever, and other pools would wait for their share of the budget.
 */
export function isGone({ entry, node, instance }: TerminatingNodeView): boolean {
  const now = node.ok ? node.value : undefined;
  if (!isNodeless(entry)) return node.ok && (now?.uid !== entry.uid || (now.deleting && entry.ended !== undefined));
  const hasJoined = now !== undefined && instanceIdOf(now) === entry.instance;
  return hasJoined || (instance?.ok === true && isOver(instance.value));
}
