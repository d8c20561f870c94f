/** Derives from the observed state what is due, once it is complete: rules, conditions, status and schedule read only the result. Pure. */
import type { Decision } from './model/decisions.ts';
import type { Derived } from './model/due.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome, RunResult } from './model/outcome.ts';
import { chainsFor } from './plan.ts';
import { withDue } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';
import { decide } from './rules/ruleChains.ts';

/** The observed state with what is due. */
export function derive(s: ObservedState): Derived {
  return withDue(s, providerOf(s.pool).due(s));
}

/** The result of a run that takes no step. */
export function withoutSteps<D extends Derived>(after: D, decisions: readonly Decision[]): RunResult<D> {
  return { after, decisions, done: [], skipped: [], accepted: undefined, left: [], released: false };
}

/** The outcome with what is due and what waits after the steps: what was refused, or done, changes both. */
export function resultOf(outcome: Outcome, before: ObservedState, decisions: readonly Decision[]): RunResult {
  const after = derive(outcome.after);
  const isSame = outcome.done.length === 0 && areSame(after.errors, before.errors);
  return { ...outcome, after, decisions: isSame ? decisions : decide(chainsFor(after.pool), after) };
}

function areSame(some: ObservedState['errors'], others: ObservedState['errors']): boolean {
  return some.length === others.length && some.every((error, index) => error === others[index]);
}
