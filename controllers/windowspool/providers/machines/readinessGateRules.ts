/** The condition winpool.dev/Verified of Machines, for which a rollout of Cluster API waits if they have it as a readiness gate. */
import type { Step } from '../../model/steps.ts';
import { turnOf } from '../../nodes/nodeRules.ts';
import type { Machine } from '../../ports/machines.ts';
import type { NodeCondition } from '../../ports/nodes.ts';
import { liveMachines, type MachinesDerived } from './machinesState.ts';

/** Ensures that Machines with the readiness gate have the result of the verification of their nodes. */
export function reportVerification(s: MachinesDerived): Step[] {
  const due = liveMachines(s).flatMap((machine) => {
    const condition = machine.hasReadinessGate ? resultOf(s, machine) : undefined;
    return condition && condition.status !== machine.verified ? [{ machine, condition }] : [];
  });
  return turnOf(s, due).map((one) => ({ kind: 'reportMachine', ...one }));
}

/** The result of the node of a Machine; undefined while the pool does not have the node. */
function resultOf({ poolNodes }: MachinesDerived, { node }: Machine): NodeCondition | undefined {
  if (!poolNodes.has(node)) return undefined;
  const find = (results: typeof poolNodes.failing) => results.find((result) => result.node.name === node);
  const failing = find(poolNodes.failing);
  if (failing) return conditionOf('False', failing);
  const joining = find(poolNodes.joining);
  return joining ? conditionOf('Unknown', joining) : { status: 'True', reason: 'ChecksPassed', message: '' };
}

function conditionOf(
  status: NodeCondition['status'],
  { failures: [first] }: MachinesDerived['poolNodes']['failing'][number],
): NodeCondition {
  return { status, reason: first?.reason ?? 'Joining', message: first ? `Node ${first.message}` : '' };
}
