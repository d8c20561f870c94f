/** Which nodes of a pool of Karpenter may leave: such a pool has no size. Pure. */
import { goneNodes } from '../../disruption/reservation.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { Halt } from '../../model/disruption.ts';
import { isOwned, type KarpenterState, leavingNodes, objectIn, objectName, startingClaims } from './karpenterState.ts';

/** All nodes serve the pods. NodeClaims that do not become nodes are deleted by Karpenter. */
export function karpenterCapacity(s: KarpenterState): Capacity {
  const { total, unavailable } = s.poolNodes;
  const whyNone = whyNoneMayLeave(s);
  return {
    desired: undefined,
    size: total,
    serving:
      whyNone === '' ? { total, unavailable, leaving: [...leavingNodes(s).keys()], ...successors(s) } : undefined,
    whyNone,
    unjoined: [],
    ...(s.nodeRepair?.ok && s.nodeRepair.value && { halted: NODE_REPAIR }),
  };
}

/** Both would replace the same nodes, and NodeRepair ignores the budget of the pool. */
const NODE_REPAIR: Halt = {
  reason: 'RemediatedByNodeRepair',
  message:
    'Karpenter runs with the feature gate NodeRepair and replaces nodes that are not Ready, so the operator replaces none of the failing nodes. Set remediation.policy: Report, or turn off the feature gate.',
};

/**
 * The nodes that take the place of those that left in this turn count as missing until they have joined. Whether Karpenter replaces a node depends on its pods; it
 * deletes a NodeClaim that does not become a node within 15 minutes.
 */
function successors(s: KarpenterState): { readonly desired?: number } {
  const awaited = awaitedSuccessors(s);
  return awaited > 0 ? { desired: s.poolNodes.total + awaited } : {};
}

/** How many of them there are. */
export function awaitedSuccessors(s: KarpenterState): number {
  return Math.min(goneNodes(s).length, startingClaims(s).length);
}

function whyNoneMayLeave(s: KarpenterState): string {
  const nodePool = objectIn(s, 'NodePool');
  const name = objectName(s);
  if (s.karpenter.kind === 'unknown') return `${name} cannot be read`;
  if (!nodePool) return `${name} does not exist`;
  if (!isOwned(s)) return `${name} was not created by the pool`;
  return nodePool.deleting ? `${name} is being deleted` : '';
}
