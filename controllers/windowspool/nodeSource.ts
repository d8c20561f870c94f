/** Where the nodes of a pool come from, and what follows from that for code that no provider owns. Pure. */
import type { ExistingNodesSpec, NodeGroupSpec, ScalingSpec, WindowsPool, WindowsPoolSpec } from './api.gen.ts';

/** What sets the pools of one source apart, as data. What takes code is in the provider: providers/provider.ts. */
export interface NodeSource {
  /** The field of the spec that chooses it. */
  readonly name: 'nodeGroup' | 'existingNodes';
  /** Whether spec.scaling says how many nodes there should be. */
  readonly hasSize: boolean;
  /** Whether the operator terminates instances of nodes that are replaced, removed or remediated. Where not, it only drains them. */
  readonly terminatesInstances: boolean;
  /** Whether its nodes are replaced by rolling updates. */
  readonly rollsNodes: boolean;
  /** Whether the operator puts the pool's labels and taints on nodes itself, and records what they had. */
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

/** The schema wants exactly one of nodeGroup and existingNodes, and keeps the choice. */
export function nodeSourceOf({ spec }: Pick<WindowsPool, 'spec'>): NodeSource {
  return SOURCES[spec.nodeGroup ? 'nodeGroup' : 'existingNodes'];
}

/** The node group of a pool that has one. Throws for another: no rule about node groups is asked about such a pool. */
export function nodeGroupIn({ nodeGroup }: Pick<WindowsPoolSpec, 'nodeGroup'>): NodeGroupSpec {
  if (!nodeGroup) throw new Error('a pool of existing nodes has no node group');
  return nodeGroup;
}

/** The size of a pool that has a node group. Throws for another. */
export function scalingIn({ scaling }: Pick<WindowsPoolSpec, 'scaling'>): ScalingSpec {
  if (!scaling) throw new Error('a pool of existing nodes has no size of its own');
  return scaling;
}

/** Where the nodes of a pool without a node group come from. Throws for another. */
export function existingNodesIn({ existingNodes }: Pick<WindowsPoolSpec, 'existingNodes'>): ExistingNodesSpec {
  if (!existingNodes) throw new Error('a pool with a node group takes no existing nodes');
  return existingNodes;
}
