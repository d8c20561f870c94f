/** Intervals and errors that the schedules of all providers share. Pure. */

import type { ObservedState } from '../model/observedState.ts';
import { hashOf } from '../util/hash.ts';

/** A single failed read of a node group changes no condition; errors that last this long do. In milliseconds. */
export const UNREACHABLE_SHOWN_AFTER_MS = 60_000;

/** The shortest requeue interval, so that nothing loops hot. */
export const SHORTEST_MS = 100;

/** Transient errors: retried soon, with exponential backoff. */
export const TRANSIENT: readonly string[] = ['throttled', 'unavailable', 'conflict'];

/** Spreads an interval to between 75% and 125%, always the same for a pool, so that many pools do not call at once. */
export function spread({ pool }: ObservedState, ms: number): number {
  const share = Number.parseInt(hashOf(pool.metadata.uid).slice(0, 4), 16) / 0xffff;
  return Math.round(ms * (0.75 + share / 2));
}
