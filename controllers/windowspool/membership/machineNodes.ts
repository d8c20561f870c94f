/** The nodes of Machines, by which a pool of machines selects nodes. Pure. */
import type { Machine, MachineNodes } from '../ports/machines.ts';

/** The nodes of Machines, with their provider IDs. A Machine without one of both has none. */
export function nodesOfMachines(machines: readonly Machine[]): MachineNodes {
  return new Map(
    machines.flatMap(({ node, providerID }) => (node !== '' && providerID !== '' ? [[node, providerID]] : [])),
  );
}

/** Whether both have the same nodes. */
export function isSameNodes(some: MachineNodes, others: MachineNodes): boolean {
  return some.size === others.size && [...some].every(([node, providerID]) => others.get(node) === providerID);
}
