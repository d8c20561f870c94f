/** Reads the observed state of a pool of Karpenter from the cache: nothing is read in AWS. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { withOperations } from '../../disruption/observeLeavingNodes.ts';
import { observeMembership } from '../../membership/observeMembership.ts';
import type { NodePools } from '../../ports/karpenter.ts';
import type { ObserveContext } from '../provider.ts';
import { nodeReader } from './drainClaims.ts';
import type { KarpenterState } from './karpenterState.ts';

declare module '../../observation/sources.ts' {
  interface Sources {
    readonly nodePools: NodePools;
  }
}

/** Reads the observed state of a pool of Karpenter. */
export async function observeKarpenter(pool: WindowsPool, context: ObserveContext): Promise<KarpenterState> {
  const { readCache, sources, signal } = context;
  const { name } = pool.metadata;
  const s = { ...(await observeMembership(pool, context)), karpenter: sources.nodePools.of(name) };
  return withOperations(s, readCache.operations.get(name), false, () => nodeReader(s, sources, signal));
}
