/**
 * Computes the steps from the observed state and what is due. Pure: no I/O, no clock, no randomness.
 *
 *   pool exists        node membership -> node group -> tags -> RuntimeClass -> nodes
 *   pool is deleted    its node group, then its finalizer
 *
 * In each rule chain, the first rule that applies decides.
 */

import type { WindowsPool } from './api.gen.ts';
import type { Decision } from './model/decisions.ts';
import type { Derived } from './model/due.ts';
import type { Step } from './model/steps.ts';
import { providerOf } from './providers/providers.ts';
import { isDeleting, isPaused } from './queries.ts';
import { decide, type RuleChain } from './ruleChains.ts';
import { stepKindOf } from './steps/steps.ts';

/** The steps for one run of a pool. */
export interface Plan {
  /** What the rule chains decided, and why. */
  readonly decisions: readonly Decision[];
  readonly steps: readonly Step[];
  /** What would be done if the pool were not paused. */
  readonly pending: readonly Step[];
}

/** The plan for a pool. A paused pool only gets its finalizer: its other steps are pending. */
export function planFor(s: Derived): Plan {
  const decisions = decide(chainsFor(s.pool), s);
  const steps = untilSwitch(withOneReservation(decisions.flatMap((decision) => decision.steps)));
  const later = isDeleting(s.pool) ? [] : providerOf(s.pool).pendingSteps(s, steps);
  if (!isPaused(s.pool)) return { decisions, steps, pending: later };
  const isHold = ({ kind }: Step) => kind === 'addFinalizer';
  return { decisions, steps: steps.filter(isHold), pending: [...steps.filter((step) => !isHold(step)), ...later] };
}

/** A reservation has one purpose at a time: a second one would hide the first. */
function withOneReservation(steps: readonly Step[]): readonly Step[] {
  const first = steps.find((step) => stepKindOf(step).reserves);
  return steps.filter((step) => !stepKindOf(step).reserves || step === first);
}

/** When another group becomes the one that the spec describes, all other steps follow in the next run: they would be about the wrong group. */
function untilSwitch(steps: readonly Step[]): readonly Step[] {
  if (!steps.some(({ kind }) => kind === 'switchNodeGroup')) return steps;
  return steps.filter(({ kind }) => kind === 'switchNodeGroup' || kind === 'addFinalizer');
}

/** The rule chains for a pool in its current state. Exported for the tests. */
export function chainsFor(pool: WindowsPool): readonly RuleChain[] {
  const { chains, deletionChains } = providerOf(pool);
  return isDeleting(pool) ? deletionChains : chains;
}
