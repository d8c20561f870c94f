/** Reads the facts that advice needs. */
import type { ObservedState } from '../../../model/observedState.ts';
import type { AdviceFacts } from '../../../model/prerequisites.ts';
import type { PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { type Ask, subnetsOf } from '../prerequisites/questions.ts';

/** Reads the facts. `ask` returns answers that pools share, and that can be an hour old. */
export async function gatherAdvice(
  s: ObservedState,
  { capacity, system }: Pick<PrerequisiteSources, 'capacity' | 'system'>,
  ask: Ask,
): Promise<AdviceFacts> {
  const [subnets, dnsNodes] = await Promise.all([
    subnetsOf(s, capacity, ask),
    ask('CoreDNS pods', (signal) => system.dnsNodes(signal)),
  ]);
  return { subnets, dnsNodes };
}
