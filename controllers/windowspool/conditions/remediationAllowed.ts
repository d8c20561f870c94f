/** The condition RemediationAllowed: whether few enough nodes fail for any of them to be replaced. Present only while False. Pure. */
import { admit } from '../disruption/admission.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { isDeleting } from '../queries.ts';
import { falseCondition } from './condition.ts';

/** The state while more nodes fail than remediation.maxUnhealthy allows, as in a MachineHealthCheck of Cluster API; otherwise undefined. */
export function remediationAllowed(s: ObservedState): ConditionState | undefined {
  const { halted } = isDeleting(s.pool) ? {} : admit(s);
  return halted === undefined ? undefined : falseCondition('TooManyUnhealthy', halted);
}
