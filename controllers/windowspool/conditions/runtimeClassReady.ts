/** The condition RuntimeClassReady. */

import type { WindowsPool } from '../api/api.gen.ts';
import { ADOPTABLE_BY } from '../api/labels.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { WINDOWS_BUILD_LABEL } from '../nodes/windowsVersions.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import { isDeleting, isPaused } from '../rules/poolQueries.ts';
import {
  isAvailable,
  isReplaced,
  isSoleOwner,
  isTaken,
  misfitsOf,
  runtimeClassFor,
  selectsWindows,
} from '../runtimeClass/runtimeClass.ts';
import { failedKindOf } from '../steps/stepKinds.ts';
import { describeFailure, joined } from '../util/words.ts';
import { falseCondition, trueCondition } from './condition.ts';

/** Whether the RuntimeClass for pods of the pool exists and fits. */
export function runtimeClassReady(s: ObservedState): ConditionState {
  const desired = runtimeClassFor(s.pool);
  const { runtimeClass: seen } = s;
  const error = s.errors.find((entry) => failedKindOf(entry).blocks === 'runtimeClass')?.error;
  if (error && error.kind !== 'conflict') return falseCondition('Failed', describeFailure(error), 'working');
  if (seen && !seen.managed) return foreign(s, seen);
  if (seen && isAvailable(s.pool, seen)) {
    const build = desired.nodeSelector[WINDOWS_BUILD_LABEL];
    const message = `RuntimeClass ${desired.name} selects nodes with Windows build ${build}.`;
    return trueCondition('Available', message);
  }
  const isOthers = seen && (isTaken(s.pool, seen) || (seen.handler !== desired.handler && !isSoleOwner(s.pool, seen)));
  if (isOthers && !seen.deleting) {
    const others = seen.owners.filter(({ uid }) => uid !== s.pool.metadata.uid).map(({ name }) => name);
    const whose = others.length > 0 ? ` and is used by WindowsPool ${joined(others.sort())}` : '';
    const message = `RuntimeClass ${desired.name} differs from what this pool needs${whose}. Set runtimeClass.name to a new name.`;
    return falseCondition('NotOwned', message, 'stalled');
  }
  return pending(s, 'created');
}

/** The state of a RuntimeClass that no pool created. */
function foreign(s: ObservedState, seen: RuntimeClass): ConditionState {
  const misfits = misfitsOf(seen, runtimeClassFor(s.pool), s.pool);
  const { name, managedBy } = seen;
  if (misfits.length === 0)
    return trueCondition(
      'Unmanaged',
      `RuntimeClass ${name} was not created by the operator. It fits and is used unchanged.`,
    );
  if (isReplaced(seen, s.pool)) return pending(s, 'replaced');
  const [owner, replace] =
    managedBy === undefined
      ? ['exists but', howToReplace(s.pool, seen)]
      : [`is managed by ${managedBy} and`, 'Or change it there.'];
  const message = `RuntimeClass ${name} ${owner} does not fit: ${misfits.join('; ')}. Set runtimeClass.name to a new name. ${replace}`;
  return falseCondition('NotOwned', message, 'stalled');
}

/** How the operator is permitted to replace the RuntimeClass, in a sentence. */
function howToReplace({ metadata, spec }: WindowsPool, seen: RuntimeClass): string {
  if (!selectsWindows(seen)) return 'Or delete it: the operator never replaces one that does not select Windows nodes.';
  if (seen.adoptableBy === metadata.name)
    return 'Or have the operator delete and recreate it: set runtimeClass.adoption: IfUnowned.';
  const set = spec.runtimeClass.adoption === 'Never' ? 'set runtimeClass.adoption: IfUnowned, and run: ' : '';
  return `Or have the operator delete and recreate it: ${set}kubectl annotate --overwrite runtimeclass ${seen.name} ${ADOPTABLE_BY}=${metadata.name}`;
}

function pending(s: ObservedState, what: 'created' | 'replaced'): ConditionState {
  const { name } = runtimeClassFor(s.pool);
  return falseCondition('Pending', `RuntimeClass ${name} ${whenPending(s, what)}.`, 'working');
}

function whenPending({ pool, runtimeClass: seen }: ObservedState, what: 'created' | 'replaced'): string {
  if (isDeleting(pool)) return `is not ${what}, because the pool is being deleted`;
  if (isPaused(pool)) return `is ${what} when the pool is resumed`;
  return seen?.deleting ? 'is being deleted, and is created again after that' : `is about to be ${what}`;
}
