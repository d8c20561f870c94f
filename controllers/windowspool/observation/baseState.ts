import type { WindowsPool } from '../api/api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { GroupExpectation } from '../model/poolNodesView.ts';
import { expectationOf } from '../nodes/expectation.ts';
import type { ObserveContext } from '../providers/provider.ts';
import { runtimeClassFor } from '../runtimeClass/runtimeClass.ts';

/** The part of the observed state that every provider reads from the caches, and what the pool's nodes are verified against. */
export function baseState(
  pool: WindowsPool,
  ofGroups: GroupExpectation,
  { readCache, sources, settings, now }: ObserveContext,
) {
  const serverVersion = sources.serverVersion();
  const desired = runtimeClassFor(pool);
  const formerName = pool.status?.runtimeClass?.name;
  const expected = expectationOf(pool, ofGroups, serverVersion, settings.joinGraceMs);
  const drained = readCache.drained.get(pool.metadata.name);
  const base = {
    ...(drained && { drained }),
    pool,
    now,
    settings,
    serverVersion,
    nodePods: sources.nodePods.of(pool.metadata.name),
    otherPools: sources.poolRegistry.seenBy(pool.metadata.name, now),
    runtimeClass: sources.runtimeClasses.get(desired.name),
    formerRuntimeClass: formerName && formerName !== desired.name ? sources.runtimeClasses.get(formerName) : undefined,
  } satisfies Partial<ObservedState>;
  return { base, expected };
}
