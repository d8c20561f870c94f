/** Constructors of conditions, named as in Cluster API. */

import type { Reason } from '../api/reasons.ts';
import type { ConditionState } from '../model/conditions.ts';

/**
 * What a condition that is not as desired means for kstatus: the operator, EKS or a node is working on it (Reconciling), or only human action
 * helps (Stalled).
 */
type Progress = 'working' | 'stalled';

/** A condition with status True. */
export function trueCondition(reason: Reason, message: string, progress?: Progress): ConditionState {
  return { status: 'True', reason, message, ...(progress && { [progress]: true }) };
}

/** A condition with status False. */
export function falseCondition(reason: Reason, message: string, progress?: Progress): ConditionState {
  return { status: 'False', reason, message, ...(progress && { [progress]: true }) };
}

/** A condition with status Unknown. */
export function unknownCondition(reason: Reason, message: string, progress?: Progress): ConditionState {
  return { status: 'Unknown', reason, message, ...(progress && { [progress]: true }) };
}
