/** Reads the facts that advice needs. */
import type { ObservedState } from '../../../model/observedState.ts';
import type { AdviceFacts } from '../../../model/prerequisites.ts';
import type { PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { type Ask, subnetsOf } from '../prerequisites/questions.ts';
import { checks } from './checks.ts';

type Sources = Pick<PrerequisiteSources, 'capacity' | 'system'>;
type Reader<N extends keyof AdviceFacts> = (
  s: ObservedState,
  sources: Sources,
  ask: Ask,
) => Promise<AdviceFacts[N]> | undefined;

/** How each fact is read. */
const readers: { readonly [N in keyof Required<AdviceFacts>]: Reader<N> } = {
  subnets: (s, { capacity }, ask) => subnetsOf(s, capacity, ask),
  dnsNodes: (_s, { system }, ask) => ask('CoreDNS pods', (signal) => system.dnsNodes(signal)),
  encryptsVolumes: (_s, { capacity }, ask) =>
    ask('encryption of volumes', (signal) => capacity.encryptsVolumes(signal)),
};

/**
 * Reads the facts in parallel: all of them together with all prerequisites (`complete`), otherwise those of the advice that the pool has, because it may be
 * outdated. Undefined when there are none. `ask` returns answers that pools share, and that can be an hour old.
 */
export async function gatherAdvice(
  s: ObservedState,
  sources: Sources,
  ask: Ask,
  complete: boolean,
): Promise<AdviceFacts | undefined> {
  const given = new Set((s.pool.status?.advice ?? []).map(({ reason }) => reason));
  const wanted = new Set(checks.flatMap(({ reason, needs }) => (complete || given.has(reason) ? needs : [])));
  if (wanted.size === 0) return undefined;
  const facts = await Promise.all(
    [...wanted].map(async (name) => [name, await readers[name](s, sources, ask)] as const),
  );
  return Object.fromEntries(facts.filter(([, fact]) => fact !== undefined)) as AdviceFacts;
}
