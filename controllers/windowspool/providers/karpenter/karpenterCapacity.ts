/** Which nodes of a pool of Karpenter may leave: such a pool has no size. Pure. */
import type { Capacity } from '../../model/capacity.ts';
import { isOwned, type KarpenterState, objectIn, objectName } from './karpenterState.ts';

/** All nodes serve the pods. NodeClaims that do not become nodes are deleted by Karpenter. */
export function karpenterCapacity(s: KarpenterState): Capacity {
  const { total, unavailable } = s.poolNodes;
  const whyNone = whyNoneMayLeave(s);
  return {
    desired: undefined,
    size: total,
    serving: whyNone === '' ? { total, unavailable } : undefined,
    whyNone,
    unjoined: [],
  };
}

function whyNoneMayLeave(s: KarpenterState): string {
  const nodePool = objectIn(s, 'NodePool');
  const name = objectName(s);
  if (s.karpenter.kind === 'unknown') return `${name} cannot be read`;
  if (!nodePool) return `${name} does not exist`;
  if (!isOwned(s)) return `${name} was not created by the pool`;
  return nodePool.deleting ? `${name} is being deleted` : '';
}
