import { FINALIZER } from './labels.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';

/** Ensures the order: a node group created without the finalizer would outlive a deleted pool. */
export function addFinalizerFirst({ pool }: ObservedState): Step[] | undefined {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [{ kind: 'addFinalizer' }];
}
