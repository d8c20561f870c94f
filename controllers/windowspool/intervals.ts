/** Intervals and errors that the schedules of all providers share. Pure. */

import type { ObservedState } from './model/observedState.ts';
import type { StepError } from './model/stepError.ts';
import type { CallError } from './ports/callResult.ts';
import { groupOf } from './providers/eks/groups.ts';
import { isLasting } from './queries.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';
import { hashOf } from './util/hash.ts';

/** A single failed read of a node group changes no condition; errors that last this long do. In milliseconds. */
export const UNREACHABLE_SHOWN_AFTER_MS = 60_000;

/** The shortest requeue interval, so that nothing loops hot. */
export const SHORTEST_MS = 100;

/** Transient errors: retried soon, with exponential backoff. */
export const TRANSIENT: readonly string[] = ['throttled', 'unavailable', 'conflict'];

/**
 * The errors that decide when AWS is read again: errors of AWS, and of the ConfigMap of Windows IPAM, which only a pool that has read AWS writes.
 * Windows IPAM is a setting of the whole cluster: a lasting error there only delays a group that is still to be created.
 */
export function awsErrorsOf(s: ObservedState): CallError[] {
  const hasGroup = groupOf(s) !== undefined;
  return [
    ...s.errors
      .filter((entry) => (isIpamError(entry) ? !(hasGroup && isLasting(entry.error)) : isAwsError(entry)))
      .map(({ error }) => error),
    ...(s.group.kind === 'unreachable' ? [s.group.error] : []),
    ...(s.cluster.kind === 'unreachable' ? [s.cluster.error] : []),
  ];
}

/** Whether a call to enable Windows IPAM failed. */
export function isIpamError({ step }: StepError): boolean {
  return isIpamStep({ kind: step });
}

/** Spreads an interval to between 75% and 125%, always the same for a pool, so that many pools do not call at once. */
export function spread({ pool }: ObservedState, ms: number): number {
  const share = Number.parseInt(hashOf(pool.metadata.uid).slice(0, 4), 16) / 0xffff;
  return Math.round(ms * (0.75 + share / 2));
}
