/** Reads the facts that advice needs. */
import type { ObservedState } from '../../../model/observedState.ts';
import type { AdviceFacts } from '../../../model/prerequisites.ts';
import type { PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { type Ask, subnetsOf } from '../prerequisites/questions.ts';

/** Reads the facts. `ask` returns answers that pools share, and that can be an hour old. */
export async function gatherAdvice(
  s: ObservedState,
  { capacity }: Pick<PrerequisiteSources, 'capacity'>,
  ask: Ask,
): Promise<AdviceFacts> {
  return { subnets: await subnetsOf(s, capacity, ask) };
}
