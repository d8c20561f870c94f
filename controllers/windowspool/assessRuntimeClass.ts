/** The condition RuntimeClassReady. */
import type { Finding } from './assess.ts';
import { isPaused } from './facts.ts';
import { imageBuildsOf, WINDOWS_BUILD_LABEL } from './nodes/windows.ts';
import type { RuntimeClassWish } from './ports/runtimeClasses.ts';
import { fits, isAsWanted, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';
import type { Situation } from './situation.ts';
import { joined, sentence } from './words.ts';

/** Whether pods of the pool find their RuntimeClass. */
export function assessRuntimeClass(s: Situation): Finding {
  const wish = runtimeClassFor(s.pool);
  if (!wish)
    return {
      status: 'True',
      reason: 'NotManaged',
      message: 'The pool manages no RuntimeClass (runtimeClass.manage is false).',
    };
  const seen = s.runtimeClass;
  if (seen && !seen.managed) {
    if (fits(seen, wish, s.pool)) {
      return { status: 'True', reason: 'UsedAsIs', message: `RuntimeClass ${wish.name} was there before and fits.` };
    }
    const wanted = Object.entries(wish.nodeSelector).map(([key, value]) => `${key}=${value}`);
    const message =
      `RuntimeClass ${wish.name} was there before and does not place pods on this pool: it needs handler ${wish.handler}, ` +
      `nodeSelector ${joined(wanted)} and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.`;
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  const trouble = s.troubles.find(({ step }) => step.endsWith('RuntimeClass'))?.trouble;
  if (trouble && trouble.kind !== 'conflict') {
    return {
      status: 'False',
      reason: 'Failed',
      message: sentence(`${trouble.operation} failed: ${trouble.message}`),
      working: true,
    };
  }
  if (seen && !seen.deleting && isOwner(s.pool, seen) && isAsWanted(seen, wish)) {
    return { status: 'True', reason: 'Available', message: available(s, wish) };
  }
  if (
    seen &&
    !seen.deleting &&
    (isTaken(s.pool, seen) || (seen.handler !== wish.handler && !isSoleOwner(s.pool, seen)))
  ) {
    const owners = joined(
      seen.owners
        .filter(({ uid }) => uid !== s.pool.metadata.uid)
        .map(({ name }) => name)
        .sort(),
    );
    const message =
      `RuntimeClass ${wish.name} says something else than this pool wants${owners && ` and belongs to ${owners}`}. ` +
      'Choose another runtimeClass.name, or delete it.';
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  return {
    status: 'False',
    reason: 'Pending',
    message: `RuntimeClass ${wish.name} is ${isPaused(s.pool) ? 'made when the pool is resumed' : 'about to be made'}.`,
    working: true,
  };
}

function available({ pool }: Situation, { name, nodeSelector }: RuntimeClassWish): string {
  const { windowsVersion, runtimeClass } = pool.spec;
  const [, ...older] = imageBuildsOf(windowsVersion, runtimeClass.imageCompatibility);
  const too = older.length > 0 ? ` Images of build ${joined(older)} run there, too.` : '';
  return `Pods with runtimeClassName: ${name} run on Windows build ${nodeSelector[WINDOWS_BUILD_LABEL]}.${too}`;
}
