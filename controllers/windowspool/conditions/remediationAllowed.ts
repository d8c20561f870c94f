/** The condition RemediationAllowed: whether few enough nodes fail for any of them to be replaced. Present only while False. Pure. */
import type { ConditionState } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import { isDeleting } from '../rules/poolQueries.ts';
import { falseCondition } from './condition.ts';

/**
 * The state while more nodes fail than remediation.maxUnhealthy allows, as in a MachineHealthCheck of Cluster API, or while another controller remediates them;
 * otherwise undefined.
 */
export function remediationAllowed(s: Derived): ConditionState | undefined {
  const halted = isDeleting(s.pool) ? undefined : s.due.nodes.halted;
  return halted && falseCondition(halted.reason, halted.message);
}
