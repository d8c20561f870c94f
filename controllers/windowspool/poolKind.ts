/** The two kinds of pools: one whose nodes EKS makes, and one of nodes that something else made. Pure. */
import type { ExistingNodesSpec, NodeGroupSpec, ScalingSpec, WindowsPool, WindowsPoolSpec } from './api.gen.ts';

/** Whether EKS makes the pool's nodes. The schema wants exactly one of nodeGroup and existingNodes, and keeps the choice. */
export function hasNodeGroup({ spec }: Pick<WindowsPool, 'spec'>): boolean {
  return spec.nodeGroup !== undefined;
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
