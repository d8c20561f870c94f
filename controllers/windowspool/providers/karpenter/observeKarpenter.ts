/** Reads the observed state of a pool of Karpenter from the cache. In AWS, only the AMI that a pool follows is read. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { CNI_CONFIG_QUESTION } from '../../checks/windowsIpam.ts';
import { withOperations } from '../../disruption/observeLeavingNodes.ts';
import { replacesUnhealthy } from '../../disruption/remediation.ts';
import { observeMembership } from '../../membership/observeMembership.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { NodePools } from '../../ports/karpenter.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import type { ObserveContext } from '../provider.ts';
import { nodeReader } from './drainClaims.ts';
import { heldNodes } from './heldNodes.ts';
import { isOfAws, type KarpenterState } from './karpenterState.ts';
import { readNodeClassFacts } from './nodeClassFacts.ts';

declare module '../../observation/sources.ts' {
  interface Sources {
    readonly nodePools: NodePools;
  }
}

/** Reads the setting of Windows IPAM. All pools share the answer. */
function readCniConfig({ readCache, sources, settings, now, signal }: ObserveContext) {
  const ask = (asked: AbortSignal) => sources.system.cniConfig(asked);
  return readCache.shared.get(CNI_CONFIG_QUESTION, settings.pollMs, now, ask, signal);
}

/** Asks the API server. All pools share the answer. */
function ask<Q extends 'repairsNodes' | 'pendingPods'>(question: string, call: Q, context: ObserveContext) {
  const { readCache, sources, settings, now, signal } = context;
  type Answer = Awaited<ReturnType<NodePools[Q]>> extends CallResult<infer T> ? T : never;
  const read = (asked: AbortSignal) => sources.nodePools[call](asked) as Promise<CallResult<Answer>>;
  return readCache.shared.get(question, settings.pollMs / 2, now, read, signal);
}

/** Reads the observed state of a pool of Karpenter. */
export async function observeKarpenter(pool: WindowsPool, context: ObserveContext): Promise<KarpenterState> {
  const { readCache, sources, signal } = context;
  const { name } = pool.metadata;
  const live = !isDeleting(pool);
  const seen = { ...(await observeMembership(pool, context)), karpenter: sources.nodePools.of(name) };
  const s = {
    ...seen,
    nodeClassFacts: await readNodeClassFacts(pool, context),
    ...(isOfAws(pool) && live && { cniConfig: await readCniConfig(context) }),
    ...(replacesUnhealthy(pool) && live && { nodeRepair: await ask('NodeRepair', 'repairsNodes', context) }),
    ...(heldNodes(seen).length > 0 && live && { pendingPods: await ask('pending pods', 'pendingPods', context) }),
  };
  return withOperations(s, readCache.operations.get(name), false, () => nodeReader(s, sources, signal));
}
