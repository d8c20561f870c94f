/** The condition winpool.dev/Verified of Machines, for which a rollout of Cluster API waits if they have it as a readiness gate. */
import type { Step } from '../../model/steps.ts';
import { turnOf } from '../../nodes/nodeRules.ts';
import type { NodeCondition } from '../../ports/nodes.ts';
import { liveMachines, type MachinesDerived } from './machinesState.ts';

/** Ensures that Machines with the readiness gate have the result of the verification of their nodes. */
export function reportVerification(s: MachinesDerived): Step[] {
  const gated = liveMachines(s).filter(({ hasReadinessGate }) => hasReadinessGate);
  if (gated.length === 0) return [];
  const results = resultsOf(s);
  const due = gated.flatMap((machine) => {
    const condition = s.poolNodes.has(machine.node) ? (results.get(machine.node) ?? PASSED) : undefined;
    return condition && condition.status !== machine.verified ? [{ machine, condition }] : [];
  });
  return turnOf(s, due).map((one) => ({ kind: 'reportMachine', ...one }));
}

const PASSED: NodeCondition = { status: 'True', reason: 'ChecksPassed', message: '' };

/** The results of the nodes that are not verified, by name. */
function resultsOf({ poolNodes: { failing, joining } }: MachinesDerived): ReadonlyMap<string, NodeCondition> {
  return new Map([
    ...failing.map((result) => [result.node.name, conditionOf('False', result)] as const),
    ...joining.map((result) => [result.node.name, conditionOf('Unknown', result)] as const),
  ]);
}

function conditionOf(
  status: NodeCondition['status'],
  { failures: [first] }: MachinesDerived['poolNodes']['failing'][number],
): NodeCondition {
  return { status, reason: first?.reason ?? 'Joining', message: first ? `Node ${first.message}` : '' };
}
