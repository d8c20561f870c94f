/** The conditions of a pool without their times, which status.ts adds. */
import type { Reason } from '../reasons.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition without its times, which report.ts adds. */
export interface ConditionState {
  readonly status: ConditionStatus;
  readonly reason: Reason;
  readonly message: string;
  /** Nothing but a human helps. */
  readonly stalled?: true;
  /** The operator, EKS or a node is at work on it. */
  readonly working?: true;
}

/** What every pool is told. */
export interface CommonConditions {
  readonly Ready: ConditionState;
  readonly RuntimeClassReady: ConditionState;
  readonly NodesVerified: ConditionState;
  readonly PrerequisitesMet: ConditionState;
  readonly Reconciling?: ConditionState;
  readonly Stalled?: ConditionState;
  readonly Paused?: ConditionState;
}

/** What a pool with a node group is told. */
export interface NodeGroupConditions extends CommonConditions {
  readonly NodeGroupReady: ConditionState;
  readonly UpToDate: ConditionState;
  readonly NodesLeaving?: ConditionState;
}

export interface ExistingNodesConditions extends CommonConditions {
  readonly NodesFound: ConditionState;
  readonly NodesLeaving?: ConditionState;
}

/** The conditions of a pool of either kind. */
export type ConditionSet = NodeGroupConditions | ExistingNodesConditions;
