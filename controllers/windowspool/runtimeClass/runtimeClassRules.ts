/** The rules for the RuntimeClass of a pool that is not being deleted. */

import type { RuleResult } from '../model/decisions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import { type Rule, waitFor } from '../rules/ruleChains.ts';
import { isAsDesired, isOwner, isReplaced, isSoleOwner, isTaken, misfitsOf, runtimeClassFor } from './runtimeClass.ts';

/** Releases a RuntimeClass that the spec no longer names, and deletes it when no other pool owns it. */
export function releaseFormerRuntimeClass({ pool, formerRuntimeClass: seen }: ObservedState): Step[] | undefined {
  if (!seen || seen.deleting || !isOwner(pool, seen)) return undefined;
  return [isSoleOwner(pool, seen) ? { kind: 'deleteRuntimeClass', seen } : { kind: 'releaseRuntimeClass', seen }];
}

/** Waits while the RuntimeClass is being deleted; its deletion triggers the pool. */
function waitForRuntimeClassDeletion({ runtimeClass }: ObservedState) {
  return runtimeClass?.deleting ? waitFor('Pending', 'watch', { progress: true }) : undefined;
}

/** Creates the RuntimeClass. */
function createRuntimeClass({ pool, runtimeClass }: ObservedState): Step[] | undefined {
  return runtimeClass ? undefined : [{ kind: 'createRuntimeClass', desired: runtimeClassFor(pool) }];
}

/** Deletes a RuntimeClass that no pool created and that does not fit, to recreate it, if the user allows it. Otherwise it is left alone. */
function replaceUnownedRuntimeClass({ pool, runtimeClass: seen }: ObservedState): RuleResult | Step[] | undefined {
  if (!seen || seen.managed) return undefined;
  if (isReplaced(seen, pool)) return [{ kind: 'deleteRuntimeClass', seen }];
  return misfitsOf(seen, runtimeClassFor(pool), pool).length > 0 ? waitFor('NotOwned', 'watch') : [];
}

/** Leaves a RuntimeClass to the pool that has it, so that two pools with the same name for theirs do not fight. */
function skipTakenRuntimeClass({ pool, runtimeClass }: ObservedState): RuleResult | undefined {
  return runtimeClass && isTaken(pool, runtimeClass) ? waitFor('NotOwned', 'watch') : undefined;
}

/** Deletes a RuntimeClass with another handler, to recreate it: the field is immutable. Running pods keep their handler. */
function rebuildRuntimeClass({ pool, runtimeClass }: ObservedState): RuleResult | Step[] | undefined {
  const desired = runtimeClassFor(pool);
  if (!runtimeClass || runtimeClass.handler === desired.handler) return undefined;
  if (!isSoleOwner(pool, runtimeClass)) return waitFor('NotOwned', 'watch');
  return [{ kind: 'deleteRuntimeClass', seen: runtimeClass }];
}

/** Corrects the content of the RuntimeClass, and makes the pool an owner. */
function correctRuntimeClass({ pool, runtimeClass: seen }: ObservedState): Step[] | undefined {
  const desired = runtimeClassFor(pool);
  if (!seen) return undefined;
  const steps: Step[] = [];
  if (!isAsDesired(seen, desired)) steps.push({ kind: 'applyRuntimeClass', desired, seen });
  if (!isOwner(pool, seen)) steps.push({ kind: 'shareRuntimeClass', seen });
  return steps.length > 0 ? steps : undefined;
}

/** The rules for the RuntimeClass of a pool of any provider. */
export const runtimeClassRules: readonly Rule[] = [
  waitForRuntimeClassDeletion,
  createRuntimeClass,
  replaceUnownedRuntimeClass,
  skipTakenRuntimeClass,
  rebuildRuntimeClass,
  correctRuntimeClass,
];
