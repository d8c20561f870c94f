/** The rules for the RuntimeClass of a pool that lives. */

import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import type { Rule } from '../ruleChains.ts';
import { isAsDesired, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';

/** Ensures that a RuntimeClass which the spec no longer names is left: deleted when nobody else owns it. */
export function releaseFormerRuntimeClass({ pool, formerRuntimeClass: seen }: ObservedState): Step[] | undefined {
  if (!seen || seen.deleting || !isOwner(pool, seen)) return undefined;
  return [isSoleOwner(pool, seen) ? { kind: 'deleteRuntimeClass', seen } : { kind: 'releaseRuntimeClass', seen }];
}

/** Ensures that a RuntimeClass which is being deleted is not written to; its end wakes the pool. */
function waitForRuntimeClassToGo({ runtimeClass }: ObservedState) {
  return runtimeClass?.deleting ? [] : undefined;
}

/** Ensures that there is a RuntimeClass, unless the pool manages none. */
function createRuntimeClass({ pool, runtimeClass }: ObservedState): Step[] | undefined {
  const desired = runtimeClassFor(pool);
  if (!desired) return [];
  return runtimeClass ? undefined : [{ kind: 'createRuntimeClass', desired }];
}

/** Ensures that a RuntimeClass which was there before is never taken over. */
function skipUnownedRuntimeClass({ runtimeClass }: ObservedState) {
  return runtimeClass?.managed ? undefined : [];
}

/** Ensures that two pools which choose one name for a RuntimeClass of their own do not fight: whoever has it keeps it. */
function skipTakenRuntimeClass({ pool, runtimeClass }: ObservedState): Step[] | undefined {
  return runtimeClass && isTaken(pool, runtimeClass) ? [] : undefined;
}

/** Ensures another handler by deleting and creating: Kubernetes never changes a handler. Pods that run keep theirs. */
function rebuildRuntimeClass({ pool, runtimeClass }: ObservedState): Step[] | undefined {
  const desired = runtimeClassFor(pool);
  if (!desired || !runtimeClass || runtimeClass.handler === desired.handler) return undefined;
  return isSoleOwner(pool, runtimeClass) ? [{ kind: 'deleteRuntimeClass', seen: runtimeClass }] : [];
}

/** Ensures that the pool is among the RuntimeClass' owners and that it says what the pool wants. */
function shareRuntimeClass({ pool, runtimeClass }: ObservedState): Step[] | undefined {
  const desired = runtimeClassFor(pool);
  if (!desired || !runtimeClass) return undefined;
  const lacksOwner = !isOwner(pool, runtimeClass);
  const differs = !isAsDesired(runtimeClass, desired);
  if (!lacksOwner && !differs) return undefined;
  return [{ kind: 'applyRuntimeClass', desired, seen: runtimeClass, differs, lacksOwner }];
}

/** The rules for the RuntimeClass of a pool of any provider. */
export const runtimeClassRules: readonly Rule[] = [
  waitForRuntimeClassToGo,
  createRuntimeClass,
  skipUnownedRuntimeClass,
  skipTakenRuntimeClass,
  rebuildRuntimeClass,
  shareRuntimeClass,
];
