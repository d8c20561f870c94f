/** The parts of a spec that only a pool with a node group has. Pure. */
import type { NodeGroupSpec, ScalingSpec, WindowsPoolSpec } from './api.gen.ts';

/** The node group of a pool. */
export function nodeGroupIn({ nodeGroup }: Pick<WindowsPoolSpec, 'nodeGroup'>): NodeGroupSpec {
  return nodeGroup;
}

/** The size of a pool. */
export function scalingIn({ scaling }: Pick<WindowsPoolSpec, 'scaling'>): ScalingSpec {
  return scaling;
}
