/** How many nodes a pool should have, and which of them may leave, as its provider says. Plain data. */
import type { Instance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { Halt, Refusal } from './disruption.ts';

/** What the source of a pool's nodes has. */
export interface Capacity {
  /** How many nodes there should be, as last known; undefined: unknown, or the source has no size. */
  readonly desired: number | undefined;
  /** The number of nodes of which remediation.maxUnhealthy is a share; undefined while it is unknown. */
  readonly size: number | undefined;
  /** What serves the pods, if nodes may leave it now; undefined: none may leave. */
  readonly serving: ServingCapacity | undefined;
  /** Why none may leave, as the rest of a sentence; empty if nodes may. */
  readonly whyNone: string;
  /** Why no node is replaced or removed until a user allows it; absent: nothing prevents it. */
  readonly refusal?: Pick<Refusal, 'reason' | 'why' | 'remedy'>;
  /** Why the operator must not remediate nodes; absent: it may. */
  readonly halted?: Halt;
  /** The groups whose nodes may leave; undefined: those of all. */
  readonly idleGroups?: readonly string[];
  /** What the pool no longer needs, or is about to: its nodes leave one by one. */
  readonly retiring?: RetiringCapacity;
  /** Nodes that newer ones replace, as far as that may begin now; absent: none. */
  readonly outdated?: readonly NodeRecord[];
  /** Instances that did not become nodes within the join grace. */
  readonly unjoined: readonly Instance[];
}

/** The part of a pool's nodes that serves its pods. */
export interface ServingCapacity {
  /** The group to count nodes of, uncached; absent: all nodes of the pool. */
  readonly group?: string;
  /** Its nodes, as far as they count for the disruption budget. */
  readonly total: number;
  /** Names of those that are cordoned or not Ready. */
  readonly unavailable: readonly string[];
  /** Names of nodes that their source is already removing, which the API server may not count any more. */
  readonly leaving?: readonly string[];
  /** How many nodes it should have; absent: it has no size. */
  readonly desired?: number;
  /** The number of nodes below which none is removed; absent: there is none. */
  readonly minSize?: number;
  /** Why none is removed for good, as the rest of a sentence; absent: nodes may be. */
  readonly whyNotRemoved?: string;
  /** How many nodes may be unavailable at a time, or `40%`, unless the spec says; absent: one. */
  readonly maxUnavailable?: string;
}

/** A group whose nodes leave. */
export interface RetiringCapacity {
  /** Its name, once the pool no longer needs it. */
  readonly group?: string;
  /** The nodes that are to leave now. */
  readonly leaving: readonly NodeRecord[];
  /** Why they leave, as the end of `..., whose`. */
  readonly why: string;
  /** How a user keeps them, as the end of a list of remedies; absent: not at all. */
  readonly cancel?: string;
}
