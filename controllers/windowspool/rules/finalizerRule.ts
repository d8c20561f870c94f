import { FINALIZER } from '../api/labels.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';

/** Adds the finalizer before anything else: a node group created without it would outlive a deleted pool. */
export function addFinalizerFirst({ pool }: ObservedState): Step[] | undefined {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [{ kind: 'addFinalizer' }];
}
