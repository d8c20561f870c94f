/** The nodes of Machines, by which a pool of machines selects nodes. Pure. */
import type { Machine, MachineNodes } from '../ports/machines.ts';

/**
 * The nodes of Machines, with their provider IDs. A Machine without one of both has none. Where names of nodes are used again, a Machine that is being deleted can
 * still refer to the node of the next one.
 */
export function nodesOfMachines(machines: readonly Machine[]): MachineNodes {
  const lastStays = [...machines].sort((a, b) => Number(b.deleting) - Number(a.deleting));
  return new Map(
    lastStays.flatMap(({ node, providerID }) => (node !== '' && providerID !== '' ? [[node, providerID]] : [])),
  );
}

/** Whether both have the same nodes. */
export function isSameNodes(some: MachineNodes, others: MachineNodes): boolean {
  return some.size === others.size && [...some].every(([node, providerID]) => others.get(node) === providerID);
}
