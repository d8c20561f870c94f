import type { Outcome } from '../../../model/outcome.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';

/** The outcome after a step that changed facts. */
export function withFacts(soFar: Outcome<EksState>, facts: Partial<CheckFacts>): Outcome<EksState> {
  const { prerequisites } = soFar.after;
  if (!prerequisites) return soFar;
  return { ...soFar, after: { ...soFar.after, prerequisites: { ...prerequisites, ...facts } } };
}
