/** Derives from the observed state what is due, once it is complete: rules, conditions, status and schedule read only the result. Pure. */
import type { Decision } from './model/decisions.ts';
import type { Derived } from './model/due.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome, RunResult } from './model/outcome.ts';
import { withDue } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';

/** The observed state with what is due. */
export function derive(s: ObservedState): Derived {
  return withDue(s, providerOf(s.pool).due(s));
}

/** The result of a run that takes no step. */
export function undone(after: Derived, decisions: readonly Decision[]): RunResult {
  return { after, decisions, done: [], accepted: undefined, left: [], released: false };
}

/** The outcome with what is due after the steps: what was refused, or done, changes that. What was decided does not change. */
export function resultOf(outcome: Outcome, decisions: readonly Decision[]): RunResult {
  return { ...outcome, after: derive(outcome.after), decisions };
}
