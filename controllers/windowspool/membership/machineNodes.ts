/** The nodes of Machines, by which a pool of machines selects nodes. Pure. */
import type { Machine, MachineNodes, MachinesView } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';

type Seen = Omit<Extract<MachinesView, { kind: 'seen' }>, 'kind'>;

/** A Machine, or a NodeClaim of Karpenter. */
type WithNode = Pick<Machine, 'deleting' | 'node' | 'providerID'>;

/**
 * The nodes of Machines, and of instances of a MachinePool that have no Machine, with their provider IDs. What lacks one of both has none. Where names of nodes are
 * used again, a Machine that is being deleted can still refer to the node of the next one.
 * @param known the nodes before. They are returned if they are the same, so who compares references finds no change then; otherwise, their sets are used again
 */
export function nodesOfMachines(
  seen: { readonly machines: readonly WithNode[] } & Partial<Pick<Seen, 'set'>> = { machines: [] },
  known?: MachineNodes,
): MachineNodes {
  const { machines, set } = seen;
  const { providerIDs = [], nodes = [] } = set?.instances ?? {};
  const anyOfThem = new Set(providerIDs.filter((id) => id !== ''));
  const lastStays = [...machines].sort((a, b) => Number(b.deleting) - Number(a.deleting));
  const ofMachines = new Map(
    lastStays.flatMap(({ node, providerID }) =>
      node !== '' && providerID !== '' ? [[node, onlyOne(providerID, known?.get(node))]] : [],
    ),
  );
  // A provider can begin to create Machines at any time: until then, the instances have their nodes.
  const now = new Map([...nodes.map((node) => [node, anyOfThem] as const), ...ofMachines]);
  return known && isSameNodes(known, now) ? known : now;
}

function onlyOne(id: string, known: ReadonlySet<string> | undefined): ReadonlySet<string> {
  return known?.size === 1 && known.has(id) ? known : new Set([id]);
}

/** The names of the nodes in which these differ. */
export function changedNodes(before: MachineNodes, after: MachineNodes): ReadonlySet<string> {
  // Instances share one set.
  let [same, asOther]: ReadonlySet<string>[] = [];
  const differs = ([node, ids]: readonly [string, ReadonlySet<string>], others: MachineNodes) => {
    const other = others.get(node);
    if (other === ids || (other && ids === same && other === asOther)) return false;
    if (other?.size !== ids.size || [...ids].some((id) => !other.has(id))) return true;
    [same, asOther] = [ids, other];
    return false;
  };
  const namesIn = (some: MachineNodes, others: MachineNodes) =>
    [...some].flatMap((entry) => (differs(entry, others) ? entry[0] : []));
  return new Set([...namesIn(before, after), ...namesIn(after, before)]);
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
  return some.size === others.size && changedNodes(some, others).size === 0;
}
