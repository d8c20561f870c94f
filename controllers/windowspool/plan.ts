/**
 * Computes the steps from the observed state and what is due. Pure: no I/O, no clock, no randomness.
 *
 *   pool exists        node membership -> node group -> tags -> RuntimeClass -> nodes
 *   pool is deleted    its node group, then its finalizer
 *
 * In each rule chain, the first rule that applies decides.
 */

import type { WindowsPool } from './api/api.gen.ts';
import type { Decision } from './model/decisions.ts';
import type { Derived } from './model/due.ts';
import type { Step } from './model/steps.ts';
import { providerOf } from './providers/providers.ts';
import { type Held, hold } from './rules/heldSteps.ts';
import { isDeleting, isPaused } from './rules/poolQueries.ts';
import { decide, type RuleChain } from './rules/ruleChains.ts';
import { needsFreshRead, stepKindOf } from './steps/stepKinds.ts';

/** The steps for one run of a pool, and those that are held. */
export interface Plan extends Held {
  /** What the rule chains decided, and why. Each of their steps is taken or held. */
  readonly decisions: readonly Decision[];
}

/** The plan for a pool. A paused pool only gets its finalizer. */
export function planFor(s: Derived): Plan {
  const decisions = decide(chainsFor(s.pool), s);
  const decided = { steps: decisions.flatMap((decision) => decision.steps), held: [] };
  const due = untilSwitched(withOneReservation(decided));
  const later = isDeleting(s.pool) ? [] : providerOf(s.pool).laterSteps(s, due.steps);
  const { steps, held } = isPaused(s.pool) ? hold(due, 'Paused', ({ kind }) => kind !== 'addFinalizer') : due;
  return { decisions, steps, held: [...held, ...later] };
}

/** A reservation has one purpose at a time: a second one would hide the first. */
function withOneReservation(due: Held): Held {
  const first = due.steps.find((step) => stepKindOf(step).reserves);
  return hold(due, 'DisruptionPending', (step) => stepKindOf(step).reserves === true && step !== first);
}

/** When another group becomes the one that the spec describes, all other steps follow in the next run: they would be about the wrong group. */
function untilSwitched(due: Held): Held {
  const goesFirst = (step: Step) => stepKindOf(step).goesFirst === true;
  if (!due.steps.some(goesFirst)) return due;
  return hold(due, 'Replacing', (step) => !goesFirst(step) && step.kind !== 'addFinalizer');
}

/**
 * The plan on cached state: what AWS refused at the last read is not retried before the next one, however many events arrive. The finalizer waits for
 * the AWS calls that are still due.
 */
export function heldUntilRead(plan: Plan): Plan {
  if (!requiresRead(plan)) return plan;
  return { ...plan, ...hold(plan, 'Pending', (step) => needsFreshRead(step) || step.kind === 'removeFinalizer') };
}

/** Whether a step of the plan requires a fresh read in the same run. */
export function requiresRead({ steps }: Plan): boolean {
  return steps.some(needsFreshRead);
}

/** The rule chains for a pool in its current state. Exported for the tests. */
export function chainsFor(pool: WindowsPool): readonly RuleChain[] {
  const { chains, deletionChains } = providerOf(pool);
  return isDeleting(pool) ? deletionChains : chains;
}
