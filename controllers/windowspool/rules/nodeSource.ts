/** Where the nodes of a pool come from, and what follows for code outside the providers. Pure. */
import type {
  ExistingNodesSpec,
  KarpenterSpec,
  MachineSetReference,
  MachinesSpec,
  NodeGroupSpec,
  ScalingSpec,
  WindowsPool,
  WindowsPoolSpec,
} from '../api/api.gen.ts';

/** How the kinds of pools differ, as data. What takes code is in the provider: providers/provider.ts. */
export interface NodeSource {
  /** The field of the spec that selects it. */
  readonly name: 'nodeGroup' | 'karpenter' | 'machines' | 'existingNodes';
  /** Whether the spec sets the number of nodes. */
  readonly hasSize: boolean;
  /** What the operator terminates or deletes of a node that is replaced, removed or remediated; undefined: it only drains the node. */
  readonly ends: 'instance' | 'Machine' | 'NodeClaim' | undefined;
  /** Who evicts the pods of such a node. */
  readonly drainedBy: 'operator' | 'Karpenter';
  /** Whether rolling updates replace its nodes. */
  readonly rollsNodes: boolean;
  /** Whether the operator itself puts the pool's labels and taints on nodes, and records the previous values. */
  readonly marksNodes: boolean;
  /**
   * Whether it creates nodes for pods by the build that the pool declares. A node of another build keeps that label: without it, its pods would fit on no node,
   * and each new node would lead to the next one.
   */
  readonly declaresBuild: boolean;
}

const SOURCES: Readonly<Record<NodeSource['name'], NodeSource>> = {
  nodeGroup: {
    name: 'nodeGroup',
    hasSize: true,
    ends: 'instance',
    drainedBy: 'operator',
    rollsNodes: true,
    marksNodes: false,
    declaresBuild: false,
  },
  karpenter: {
    name: 'karpenter',
    hasSize: false,
    ends: 'NodeClaim',
    drainedBy: 'Karpenter',
    rollsNodes: false,
    marksNodes: true,
    declaresBuild: true,
  },
  machines: {
    name: 'machines',
    hasSize: true,
    ends: 'Machine',
    drainedBy: 'operator',
    rollsNodes: false,
    marksNodes: true,
    declaresBuild: false,
  },
  existingNodes: {
    name: 'existingNodes',
    hasSize: false,
    ends: undefined,
    drainedBy: 'operator',
    rollsNodes: false,
    marksNodes: true,
    declaresBuild: false,
  },
};

/** The source of a pool's nodes. The schema requires exactly one of them, and makes the choice immutable. */
export function nodeSourceOf({ spec }: Pick<WindowsPool, 'spec'>): NodeSource {
  if (spec.nodeGroup) return SOURCES.nodeGroup;
  if (spec.karpenter) return SOURCES.karpenter;
  return SOURCES[spec.machines ? 'machines' : 'existingNodes'];
}

/** The node group of a spec. Throws for a pool without one, which no node group rule must see. */
export function nodeGroupIn({ nodeGroup }: Pick<WindowsPoolSpec, 'nodeGroup'>): NodeGroupSpec {
  if (!nodeGroup) throw new Error('the pool has no node group');
  return nodeGroup;
}

/** The size of a pool with a node group. Throws for other pools. */
export function scalingIn(spec: Pick<WindowsPoolSpec, 'nodeGroup'>): ScalingSpec {
  return nodeGroupIn(spec).scaling;
}

/** The nodes of Karpenter of a spec. Throws for other pools. */
export function karpenterIn({ karpenter }: Pick<WindowsPoolSpec, 'karpenter'>): KarpenterSpec {
  if (!karpenter) throw new Error('the pool has no nodes of Karpenter');
  return karpenter;
}

/** The Machines of a spec, with the object that has them. Throws for other pools. */
export function machinesIn({ machines }: Pick<WindowsPoolSpec, 'machines'>): MachinesIn {
  const ref = machines && machineSetIn(machines);
  if (!ref) throw new Error('the pool has no Machines');
  return { ...machines, ref };
}

interface MachinesIn extends MachinesSpec {
  readonly ref: MachineSetReference;
}

/** The object that has the Machines: a user owns it, or the operator creates it from the template. The schema requires one of both. */
export function machineSetIn({ ref, template }: MachinesSpec): MachineSetReference | undefined {
  if (ref || !template) return ref;
  const { apiVersion, kind, metadata } = template;
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

/** The existing nodes of a spec. Throws for other pools. */
export function existingNodesIn({ existingNodes }: Pick<WindowsPoolSpec, 'existingNodes'>): ExistingNodesSpec {
  if (!existingNodes) throw new Error('the pool takes no existing nodes');
  return existingNodes;
}
