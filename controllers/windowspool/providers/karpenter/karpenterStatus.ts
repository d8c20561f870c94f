/** The part of status that only pools of Karpenter have. Pure. */
import type { KarpenterStatus } from '../../api/api.gen.ts';
import { isOwned, type KarpenterState, liveClaims } from './karpenterState.ts';

/** The number of NodeClaims by state; undefined while they are not known, or are not the pool's. */
export function claimCounts(s: KarpenterState): KarpenterStatus | undefined {
  if (s.karpenter.kind !== 'seen' || !isOwned(s)) return undefined;
  const live = liveClaims(s);
  return {
    nodeClaims: live.length,
    withoutNode: live.filter(({ node }) => node === '').length,
    deleting: s.karpenter.claims.length - live.length,
    drifted: live.filter(({ drift }) => drift !== '').length,
  };
}
