/** The condition RuntimeClassReady. */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { imageBuildsOf, WINDOWS_BUILD_LABEL } from '../nodes/windows.ts';
import type { DesiredRuntimeClass } from '../ports/runtimeClasses.ts';
import { isPaused } from '../queries.ts';
import { fits, isAsDesired, isOwner, isSoleOwner, isTaken, runtimeClassFor } from '../runtimeClass/runtimeClass.ts';
import { joined, sentence } from '../util/words.ts';

/** Whether the RuntimeClass for pods of the pool exists and fits. */
export function runtimeClassReady(s: ObservedState): ConditionState {
  const desired = runtimeClassFor(s.pool);
  if (!desired)
    return {
      status: 'True',
      reason: 'NotManaged',
      message: 'The pool manages no RuntimeClass (runtimeClass.manage is false).',
    };
  const seen = s.runtimeClass;
  if (seen && !seen.managed) {
    if (fits(seen, desired, s.pool)) {
      return { status: 'True', reason: 'UsedAsIs', message: `RuntimeClass ${desired.name} was there before and fits.` };
    }
    const wanted = Object.entries(desired.nodeSelector).map(([key, value]) => `${key}=${value}`);
    const message =
      `RuntimeClass ${desired.name} was there before and does not place pods on this pool: it needs handler ${desired.handler}, ` +
      `nodeSelector ${joined(wanted)} and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.`;
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  const error = s.errors.find(({ step }) => step.endsWith('RuntimeClass'))?.error;
  if (error && error.kind !== 'conflict') {
    return {
      status: 'False',
      reason: 'Failed',
      message: sentence(`${error.operation} failed: ${error.message}`),
      working: true,
    };
  }
  if (seen && !seen.deleting && isOwner(s.pool, seen) && isAsDesired(seen, desired)) {
    return { status: 'True', reason: 'Available', message: available(s, desired) };
  }
  if (
    seen &&
    !seen.deleting &&
    (isTaken(s.pool, seen) || (seen.handler !== desired.handler && !isSoleOwner(s.pool, seen)))
  ) {
    const owners = joined(
      seen.owners
        .filter(({ uid }) => uid !== s.pool.metadata.uid)
        .map(({ name }) => name)
        .sort(),
    );
    const message =
      `RuntimeClass ${desired.name} says something else than this pool wants${owners && ` and belongs to ${owners}`}. ` +
      'Choose another runtimeClass.name, or delete it.';
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  return {
    status: 'False',
    reason: 'Pending',
    message: `RuntimeClass ${desired.name} is ${isPaused(s.pool) ? 'made when the pool is resumed' : 'about to be made'}.`,
    working: true,
  };
}

function available({ pool }: ObservedState, { name, nodeSelector }: DesiredRuntimeClass): string {
  const { windowsVersion, runtimeClass } = pool.spec;
  const [, ...older] = imageBuildsOf(windowsVersion, runtimeClass.imageCompatibility);
  const too = older.length > 0 ? ` Images of build ${joined(older)} run there, too.` : '';
  return `Pods with runtimeClassName: ${name} run on Windows build ${nodeSelector[WINDOWS_BUILD_LABEL]}.${too}`;
}
