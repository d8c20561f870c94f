/** Where the nodes of a pool come from, and what follows for code outside the providers. Pure. */
import type { ExistingNodesSpec, NodeGroupSpec, ScalingSpec, WindowsPool, WindowsPoolSpec } from '../api/api.gen.ts';

/** How the two kinds of pools differ, as data. What takes code is in the provider: providers/provider.ts. */
export interface NodeSource {
  /** The field of the spec that selects it. */
  readonly name: 'nodeGroup' | 'existingNodes';
  /** Whether the spec sets the number of nodes. */
  readonly hasSize: boolean;
  /** Whether the operator terminates the instances of nodes that are replaced, removed or remediated, and does not only drain them. */
  readonly terminatesInstances: boolean;
  /** Whether rolling updates replace its nodes. */
  readonly rollsNodes: boolean;
  /** Whether the operator itself puts the pool's labels and taints on nodes, and records the previous values. */
  readonly marksNodes: boolean;
}

const SOURCES: Readonly<Record<NodeSource['name'], NodeSource>> = {
  nodeGroup: { name: 'nodeGroup', hasSize: true, terminatesInstances: true, rollsNodes: true, marksNodes: false },
  existingNodes: {
    name: 'existingNodes',
    hasSize: false,
    terminatesInstances: false,
    rollsNodes: false,
    marksNodes: true,
  },
};

/** The source of a pool's nodes. The schema requires exactly one of nodeGroup and existingNodes, and makes the choice immutable. */
export function nodeSourceOf({ spec }: Pick<WindowsPool, 'spec'>): NodeSource {
  return SOURCES[spec.nodeGroup ? 'nodeGroup' : 'existingNodes'];
}

/** The node group of a spec. Throws for a pool of existing nodes, which no node group rule must see. */
export function nodeGroupIn({ nodeGroup }: Pick<WindowsPoolSpec, 'nodeGroup'>): NodeGroupSpec {
  if (!nodeGroup) throw new Error('a pool of existing nodes has no node group');
  return nodeGroup;
}

/** The size of a pool with a node group. Throws for a pool of existing nodes. */
export function scalingIn(spec: Pick<WindowsPoolSpec, 'nodeGroup'>): ScalingSpec {
  return nodeGroupIn(spec).scaling;
}

/** The existing nodes of a spec. Throws for a pool with a node group. */
export function existingNodesIn({ existingNodes }: Pick<WindowsPoolSpec, 'existingNodes'>): ExistingNodesSpec {
  if (!existingNodes) throw new Error('a pool with a node group takes no existing nodes');
  return existingNodes;
}
