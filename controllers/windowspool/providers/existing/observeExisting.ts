/** Reads the observed state of a pool of existing nodes from the cache alone: such a pool has no objects in AWS. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { withOperations } from '../../disruption/observeLeavingNodes.ts';
import { observeMembership } from '../../membership/observeMembership.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { InstanceLists } from '../../ports/nodes.ts';
import type { ObserveContext } from '../provider.ts';
import { nodeReader } from './drainExistingNodes.ts';

declare module '../../observation/sources.ts' {
  interface Sources {
    readonly instanceLists: InstanceLists;
  }
}

/** Reads the observed state of a pool of existing nodes. */
export async function observeExisting(pool: WindowsPool, context: ObserveContext): Promise<ObservedState> {
  const { readCache, sources, signal } = context;
  const s = await observeMembership(pool, context);
  const passed = readCache.operations.get(pool.metadata.name);
  return withOperations(s, passed, false, () => nodeReader(s, sources, signal));
}
