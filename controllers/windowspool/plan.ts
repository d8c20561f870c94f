/**
 * What to do, from what is true. Pure: no I/O, no clock, no randomness.
 *
 *   pool lives    claim -> node group -> tags -> RuntimeClass -> nodes
 *   pool goes     its node group, then its finalizer
 *
 * Each list below is read from the top: the first rule that speaks decides for its list. A rule that answers [] says "wait".
 */

import type { WindowsPool } from './api.gen.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';
import { providerOf } from './providers/providers.ts';
import { isDeleting, isPaused } from './queries.ts';
import { type RuleChain, stepsOf } from './ruleChains.ts';

export interface Plan {
  readonly steps: readonly Step[];
  /** What would be done if the pool were not paused. */
  readonly pending: readonly Step[];
}

/** The plan for a pool. A paused pool is only held: its other steps are pending. */
export function planFor(s: ObservedState): Plan {
  const steps = withOneReservation(stepsOf(chainsFor(s.pool), s));
  const later = isDeleting(s.pool) ? [] : providerOf(s.pool).pendingSteps(s, steps);
  if (!isPaused(s.pool)) return { steps, pending: later };
  const isHold = ({ kind }: Step) => kind === 'addFinalizer';
  return { steps: steps.filter(isHold), pending: [...steps.filter((step) => !isHold(step)), ...later] };
}

/** A claim is written for one purpose at a time: that of the second would hide the first. */
function withOneReservation(steps: readonly Step[]): readonly Step[] {
  const first = steps.find(({ kind }) => kind === 'reserveDisruption');
  return steps.filter((step) => step.kind !== 'reserveDisruption' || step === first);
}

/** The lists for a pool as it is now. Exported for the tests. */
export function chainsFor(pool: WindowsPool): readonly RuleChain[] {
  const { chains, deletionChains } = providerOf(pool);
  return isDeleting(pool) ? deletionChains : chains;
}
