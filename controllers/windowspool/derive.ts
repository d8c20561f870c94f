/** Derives from the observed state what is due, once it is complete: rules, conditions, status and schedule read only the result. Pure. */
import type { Derived } from './model/due.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome, RunResult } from './model/outcome.ts';
import { withDue } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';

/** The observed state with what is due. */
export function derive(s: ObservedState): Derived {
  return withDue(s, providerOf(s.pool).due(s));
}

/** The outcome with what is due after the steps: what was refused, or done, changes that. */
export function resultOf(outcome: Outcome): RunResult {
  return { ...outcome, after: derive(outcome.after) };
}
