/** Reads the observed state. Objects of the cluster come from the cache; AWS is called only when there is a reason. */
import type { WindowsPool } from './api.gen.ts';
import type { AwsCache, AwsSnapshot } from './awsCache.ts';
import type { ObservedState, Settings } from './model/observedState.ts';
import { providerOf } from './providers/providers.ts';
import type { Sources } from './sources.ts';

/** The observed state of a pool. With `before`, AWS is not called. */
export function observe(
  pool: WindowsPool,
  before: AwsSnapshot | undefined,
  awsCache: AwsCache,
  sources: Sources,
  settings: Settings,
  now: number,
  signal: AbortSignal,
): Promise<ObservedState> {
  return providerOf(pool).observe(pool, before, { awsCache, sources, settings, now, signal });
}
