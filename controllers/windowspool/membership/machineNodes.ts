/** The nodes of Machines, by which a pool of machines selects nodes. Pure. */
import type { MachineNodes, MachinesView } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';

type Seen = Omit<Extract<MachinesView, { kind: 'seen' }>, 'kind'>;

/**
 * The nodes of Machines, or of the instances of a MachinePool without Machines, with their provider IDs. What lacks one of both has none. Where names of nodes are
 * used again, a Machine that is being deleted can still refer to the node of the next one.
 */
export function nodesOfMachines(seen: Pick<Seen, 'machines'> & Partial<Seen> = { machines: [] }): MachineNodes {
  const { machines, set } = seen;
  if (machines.length === 0 && set?.instances) {
    const providerIDs = new Set(set.instances.providerIDs.filter((id) => id !== ''));
    return new Map(set.instances.nodes.map((node) => [node, providerIDs]));
  }
  const lastStays = [...machines].sort((a, b) => Number(b.deleting) - Number(a.deleting));
  return new Map(
    lastStays.flatMap(({ node, providerID }) =>
      node !== '' && providerID !== '' ? [[node, new Set([providerID])]] : [],
    ),
  );
}

/** Whether one of the Machines, or of the instances, has this node. A node cannot change its own provider ID. */
export function hasNode(
  machines: MachineNodes,
  { name, providerID }: Pick<NodeRecord, 'name' | 'providerID'>,
): boolean {
  return machines.get(name)?.has(providerID) === true;
}

/** Whether both have the same nodes. */
export function isSameNodes(some: MachineNodes, others: MachineNodes): boolean {
  // Instances share one set.
  let [same, asOther]: ReadonlySet<string>[] = [];
  return (
    some.size === others.size &&
    [...some].every(([node, ids]) => {
      const other = others.get(node);
      if (other && ids === same && other === asOther) return true;
      [same, asOther] = [ids, other];
      return other?.size === ids.size && [...ids].every((id) => other.has(id));
    })
  );
}
