/** Reads the observed state. Objects of the cluster come from the cache; AWS is called only when there is a reason. */
import type { WindowsPool } from './api.gen.ts';
import type { AwsSnapshot } from './awsCache.ts';
import type { ObservedState } from './model/observedState.ts';
import type { ObserveContext } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';

/** The observed state of a pool. With `before`, AWS is not called. */
export function observe(
  pool: WindowsPool,
  before: AwsSnapshot | undefined,
  context: ObserveContext,
): Promise<ObservedState> {
  return providerOf(pool).observe(pool, before, context);
}
