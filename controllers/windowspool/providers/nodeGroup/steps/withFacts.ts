import type { Outcome } from '../../../model/outcome.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';

/** The outcome after a step that changed facts. */
export function withFacts(outcome: Outcome<EksState>, facts: Partial<CheckFacts>): Outcome<EksState> {
  const { prerequisites } = outcome.after;
  if (!prerequisites) return outcome;
  return { ...outcome, after: { ...outcome.after, prerequisites: { ...prerequisites, ...facts } } };
}
