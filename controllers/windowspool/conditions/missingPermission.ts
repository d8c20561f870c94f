/** A permission that the operator lacks, as the condition PrerequisitesMet reports it. */

import type { PrerequisitesState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import type { CallError } from '../ports/callResult.ts';
import { failedKindOf } from '../steps/stepKinds.ts';
import { sentence } from '../util/words.ts';
import { falseCondition, unknownCondition } from './condition.ts';

/** What a provider knows of the permissions that it needs outside the cluster. */
export interface OutsidePermissions {
  /** The denied call without which the pool cannot be reconciled. */
  denied(s: ObservedState): CallError | undefined;
  /** What was denied, and where to grant it, in sentences. */
  describe(denied: CallError, s: ObservedState): string;
  /** The folder with the role of the operator's ServiceAccount that permits a call of the API server. */
  roleFor(denied: CallError): string;
}

/** For how long a denied call may be the effect of a permission that was just granted, in milliseconds: IAM is eventually consistent. */
const DENIED_PATIENCE_MS = 600_000;

/**
 * The missing permission, and where to grant it. Without a permission to write, the pool cannot be reconciled; without a permission to read
 * optional facts, the operator only knows less.
 */
export function missingPermission(s: ObservedState, outside?: OutsidePermissions): PrerequisitesState | undefined {
  const inside = s.errors.find((entry) => entry.error.kind === 'denied' && !isOptionalRead(entry))?.error;
  const needed = outside?.denied(s);
  const optional = s.errors.find(({ error }) => error.kind === 'denied')?.error;
  const denied = needed ?? inside ?? optional;
  if (!denied) return undefined;
  const message =
    outside && (needed || !inside)
      ? outside.describe(denied, s)
      : describeDenied(denied, outside?.roleFor(denied) ?? 'config/rbac');
  const quote = denied.denial && { quote: denied.message };
  if (!needed && !inside) return { ...unknownCondition('AccessDenied', message), ...quote, result: 'ReadDenied' };
  const condition = falseCondition('AccessDenied', message, wasDeniedLong(s) ? 'stalled' : 'working');
  return { ...condition, ...quote, result: 'Denied' };
}

/** Whether it is a failed read of facts without which the pool can be reconciled. */
export function isOptionalRead(entry: StepError): boolean {
  const { readsAws, blocks } = failedKindOf(entry);
  return readsAws === true && blocks === undefined;
}

/** What the API server denied, and the folder with the role that permits it, in sentences. */
export function describeDenied(denied: CallError, role: string): string {
  const fix = `Grant this permission to the operator's ServiceAccount. ${role} lists all permissions that it needs.`;
  return `The API server denied ${sentence(`${denied.operation}: ${denied.message}`)} ${fix}`;
}

/** Whether calls have been denied for so long that only an administrator can help. */
function wasDeniedLong({ pool, now }: ObservedState): boolean {
  const { result, since } = pool.status?.tracking?.prerequisites ?? {};
  return result === 'Denied' && since !== undefined && now - Date.parse(since) >= DENIED_PATIENCE_MS;
}
