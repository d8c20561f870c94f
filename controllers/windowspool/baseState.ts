import type { WindowsPool } from './api.gen.ts';
import type { ObservedNodeGroup, ObservedState } from './model/observedState.ts';
import type { Expectation } from './model/poolNodes.ts';
import type { ObserveContext } from './providers/provider.ts';
import { expectationOf } from './queries.ts';
import { runtimeClassFor } from './runtimeClass/runtimeClass.ts';

/** The part of the observed state that every provider reads from the caches, and what the pool's nodes are verified against. */
export function baseState(
  pool: WindowsPool,
  group: ObservedNodeGroup,
  { sources, settings, now }: ObserveContext,
  former?: ObservedNodeGroup,
) {
  const serverVersion = sources.serverVersion();
  const desired = runtimeClassFor(pool);
  const formerName = pool.status?.runtimeClass?.name;
  const expected: Expectation = expectationOf({ pool, group, serverVersion, settings, ...(former && { former }) });
  const base = {
    pool,
    now,
    settings,
    group,
    serverVersion,
    nodePods: sources.nodePods.of(pool.metadata.name),
    fleet: sources.fleet.seenBy(pool.metadata.name),
    runtimeClass: sources.runtimeClasses.get(desired.name),
    membership: undefined,
    update: undefined,
    prerequisites: undefined,
    instances: undefined,
    newestRelease: undefined,
    autoscaler: undefined,
    formerRuntimeClass: formerName && formerName !== desired.name ? sources.runtimeClasses.get(formerName) : undefined,
  } satisfies Partial<ObservedState>;
  return { base, expected };
}
