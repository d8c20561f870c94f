/** What the schedules of all providers share. Pure. */

import type { ObservedState } from './model/observedState.ts';
import type { StepError } from './model/stepError.ts';
import type { CallError } from './ports/callResult.ts';
import { groupOf, isLasting } from './queries.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';
import { hashOf } from './util/hash.ts';

/** Never sooner, so that nothing loops hot. */
export const SHORTEST_MS = 100;

/** Trouble that passes: another try comes soon, with growing delays. */
export const TRANSIENT: readonly string[] = ['throttled', 'unavailable', 'conflict'];

/**
 * The trouble that decides when AWS is looked at again: with AWS, and with the ConfigMap of Windows IPAM, which only a pool that has looked at AWS
 * writes to. Lasting trouble with Windows IPAM, which is a setting of the whole cluster, only delays a
 * group that is still to be created.
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

export function isIpamError({ step }: StepError): boolean {
  return isIpamStep({ kind: step });
}

/** Three quarters to five quarters of the interval, always the same for a pool: many pools do not ask at once. */
export function spread({ pool }: ObservedState, ms: number): number {
  const share = Number.parseInt(hashOf(pool.metadata.uid).slice(0, 4), 16) / 0xffff;
  return Math.round(ms * (0.75 + share / 2));
}
