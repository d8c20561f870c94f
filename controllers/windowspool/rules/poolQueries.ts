/** Questions that rules and conditions ask about a pool. Pure. */
import type { WindowsPool } from '../api/api.gen.ts';
import { PAUSED_ANNOTATION } from '../api/labels.ts';
import type { Reason } from '../api/reasons.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Read } from '../model/stepError.ts';
import type { CallError } from '../ports/callResult.ts';

/** Whether the pool has a deletion timestamp. */
export function isDeleting(pool: WindowsPool): boolean {
  return pool.metadata.deletionTimestamp !== undefined;
}

/** Whether spec.paused or the annotation pauses the pool. */
export function isPaused(pool: WindowsPool): boolean {
  return pool.spec.paused || (pool.metadata.annotations?.[PAUSED_ANNOTATION] ?? 'false') !== 'false';
}

/** Why AWS could not be read, as conditions report it. */
export function unreadReason({ kind }: Pick<CallError, 'kind'>): Reason {
  return kind === 'denied' ? 'AccessDenied' : 'AWSUnavailable';
}

/** The number of verified nodes that the pool needs to be Ready. */
export function neededNodes(pool: WindowsPool): number {
  return Math.max(1, pool.spec.nodeGroup?.scaling.minSize ?? 1);
}

/** Whether the same call would keep failing until people change something. */
export function isLasting({ kind }: CallError): boolean {
  return ['denied', 'refused', 'limit', 'gone', 'unknown'].includes(kind);
}

/** The observed state with an error of a read added. */
export function withError<S extends ObservedState>(s: S, step: Read, error: CallError): S {
  return { ...s, errors: [...s.errors, { at: s.now, step, error }] };
}
