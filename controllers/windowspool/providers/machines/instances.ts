/** The instances of a MachinePool whose infrastructure provider creates no Machines for them. Pure. */
import type { Halt, Refusal } from '../../model/disruption.ts';
import type { Instances } from '../../ports/machines.ts';
import { type MachinesState, objectName } from './machinesState.ts';

/** The instances, unless they have Machines. */
export function instancesOf({ machines }: Pick<MachinesState, 'machines'>): Instances | undefined {
  return machines.kind === 'seen' && machines.machines.length === 0 && machines.set.replicas > 0
    ? machines.set.instances
    : undefined;
}

/** How many of them have no node. */
export function withoutNode({ providerIDs, nodes }: Instances): number {
  return Math.max(0, providerIDs.length - nodes.length);
}

/** When nodes have been missing for longer than a node takes to join, in epoch milliseconds; undefined while none is. */
export function lateAt(s: MachinesState): number | undefined {
  const instances = instancesOf(s);
  if (!instances || s.machines.kind !== 'seen' || instances.nodes.length >= s.machines.set.replicas) return undefined;
  const { incompleteSince } = instances;
  return incompleteSince === undefined ? undefined : incompleteSince + s.settings.joinGraceMs;
}

/** Why their nodes are neither replaced nor removed, and what a user does instead. */
export function notReplaceable(s: MachinesState): Omit<Refusal, 'node' | 'operation'> {
  const why = `${objectName(s)} has no Machines, because its infrastructure provider does not create them`;
  const remedy =
    'Drain the node and delete its instance with the tools of the platform, or use a MachineDeployment: kubectl drain NODE --ignore-daemonsets';
  return { reason: 'MachinePoolWithoutMachines', why, remedy };
}

/** The same for remediation. */
export function notRemediable(s: MachinesState): Halt {
  const { reason, why } = notReplaceable(s);
  return { reason, message: `${why}. Its failing nodes are not replaced. Set remediation.policy: Report.` };
}
