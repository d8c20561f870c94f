/** The conditions of a pool without their timestamps, which poolStatus.ts adds. */
import type { PrerequisitesRecord } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';

/** The status of a condition, as in `metav1.ConditionStatus`. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition without its timestamps, which poolStatus.ts adds. */
export interface ConditionState {
  readonly status: ConditionStatus;
  readonly reason: Reason;
  readonly message: string;
  /** The words of AWS, of which the message has the meaning: only the event of the condition has them. */
  readonly quote?: string;
  /** Only human action helps. */
  readonly stalled?: true;
  /** The operator, EKS or a node is working on it. */
  readonly working?: true;
}

/** The condition PrerequisitesMet, with what status.tracking records of it. */
export interface PrerequisitesState extends ConditionState {
  /** It was not evaluated in this run, and is the one in status. */
  readonly isEarlier?: true;
  /** What status.tracking records of it; absent: nothing. */
  readonly result?: PrerequisitesRecord['result'];
  /** A hash of the warnings, ignored prerequisites and errors in the annotation that users must know; absent if there are none. */
  readonly remarks?: string;
}

/** The conditions that every pool has. */
export interface CommonConditions {
  readonly Ready: ConditionState;
  readonly RuntimeClassReady: ConditionState;
  readonly NodesVerified: ConditionState;
  readonly PrerequisitesMet: PrerequisitesState;
  readonly RemediationAllowed?: ConditionState;
  readonly Disrupting?: ConditionState;
  readonly Reconciling?: ConditionState;
  readonly Stalled?: ConditionState;
  readonly Paused?: ConditionState;
}

/** The conditions of a pool with a node group. */
export interface NodeGroupConditions extends CommonConditions {
  readonly NodeGroupReady: ConditionState;
  readonly UpToDate: ConditionState;
}

/** The conditions of a pool of Karpenter. */
export interface KarpenterConditions extends CommonConditions {
  readonly NodePoolReady: ConditionState;
}

/** The conditions of a pool of machines. */
export interface MachinesConditions extends CommonConditions {
  readonly MachinesReady: ConditionState;
}

/** The conditions of a pool of existing nodes. */
export interface ExistingNodesConditions extends CommonConditions {
  readonly NodesFound: ConditionState;
}

/** The conditions of a pool of any kind. */
export type ConditionSet = NodeGroupConditions | KarpenterConditions | MachinesConditions | ExistingNodesConditions;
