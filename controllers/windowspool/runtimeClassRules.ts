/** The rules for the RuntimeClass of a pool that lives. */
import { isAsWanted, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';

/** Ensures that a RuntimeClass which the spec no longer names is left: deleted when nobody else owns it. */
export function leaveFormerRuntimeClass({ pool, formerRuntimeClass: seen }: Situation): Step[] | undefined {
  if (!seen || seen.deleting || !isOwner(pool, seen)) return undefined;
  return [isSoleOwner(pool, seen) ? { kind: 'deleteRuntimeClass', seen } : { kind: 'releaseRuntimeClass', seen }];
}

/** Ensures that a RuntimeClass which is being deleted is not written to; its end wakes the pool. */
export function waitForRuntimeClassToGo({ runtimeClass }: Situation) {
  return runtimeClass?.deleting ? [] : undefined;
}

/** Ensures that there is a RuntimeClass, unless the pool manages none. */
export function createRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish) return [];
  return runtimeClass ? undefined : [{ kind: 'createRuntimeClass', wish }];
}

/** Ensures that a RuntimeClass which was there before is never taken over. */
export function leaveForeignRuntimeClass({ runtimeClass }: Situation) {
  return runtimeClass?.managed ? undefined : [];
}

/** Ensures that two pools which choose one name for a RuntimeClass of their own do not fight: whoever has it keeps it. */
export function leaveTakenRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  return runtimeClass && isTaken(pool, runtimeClass) ? [] : undefined;
}

/** Ensures another handler by deleting and creating: Kubernetes never changes a handler. Pods that run keep theirs. */
export function rebuildRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish || !runtimeClass || runtimeClass.handler === wish.handler) return undefined;
  return isSoleOwner(pool, runtimeClass) ? [{ kind: 'deleteRuntimeClass', seen: runtimeClass }] : [];
}

/** Ensures that the pool is among the RuntimeClass' owners and that it says what the pool wants. */
export function shareRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish || !runtimeClass) return undefined;
  const done = isOwner(pool, runtimeClass) && isAsWanted(runtimeClass, wish);
  return done ? undefined : [{ kind: 'applyRuntimeClass', wish, seen: runtimeClass }];
}
