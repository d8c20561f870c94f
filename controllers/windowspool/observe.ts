/** Reads the observed state. Objects of the cluster come from the cache; AWS is called only when there is a reason. */
import type { WindowsPool } from './api/api.gen.ts';
import type { ObservedState } from './model/observedState.ts';
import { runsNodePods } from './nodePods/preparation.ts';
import type { Snapshot } from './observation/readCache.ts';
import type { ObserveContext } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';
import { withError } from './rules/poolQueries.ts';

/** The observed state of a pool. With `before`, AWS is not called. */
export async function observe(
  pool: WindowsPool,
  before: Snapshot | undefined,
  context: ObserveContext,
): Promise<ObservedState> {
  return withPodsError(await providerOf(pool).observe(pool, before, context));
}

/** Adds why the operator's pods on nodes cannot be listed, if the pool needs any. */
function withPodsError(s: ObservedState): ObservedState {
  const error = s.nodePods.kind === 'unknown' ? s.nodePods.error : undefined;
  return error && runsNodePods(s.pool.spec.verification) ? withError(s, 'watchNodePods', error) : s;
}
