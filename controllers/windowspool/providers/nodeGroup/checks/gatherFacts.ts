/** Reads the facts that the checks of a pool need, in parallel. */

import type { ReadCache } from '../../../observation/readCache.ts';
import { LONG_MS } from '../../../observation/sharedAnswers.ts';
import { isToBeReplaced, scopeToRead } from '../derive/deriveGroup.ts';
import type { CheckFacts, FactName, Facts } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';
import { completeAge, isNewlyCreated } from '../observation/nodeGroupSnapshot.ts';
import { checks } from './checks.ts';
import { type Ask, type FactSources, factTable, type Reading } from './factTable.ts';
import { wasUnmet } from './prerequisitesRecord.ts';

/** Reads the facts that the state of the pool requires; undefined when it requires none. */
export async function gatherFacts(
  s: EksState,
  sources: FactSources,
  readCache: ReadCache,
  signal: AbortSignal,
): Promise<CheckFacts | undefined> {
  const scope = scopeToRead(s);
  if (scope === 'nothing') return undefined;
  const complete = scope === 'complete';
  const started = new Map<FactName, Promise<unknown>>();
  const fact = <N extends FactName>(name: N) => {
    const reads = started.get(name) ?? Promise.resolve(factTable[name].read(reading));
    started.set(name, reads);
    return reads as Promise<Facts[N]>;
  };
  const asks = asking(s, complete, readCache, signal);
  let reading: Reading = { ...asks, s, sources, isToBeReplaced: isToBeReplaced(s), template: undefined, fact };
  // First, because the launch template may set the instance type.
  const launchTemplate = await fact('launchTemplate');
  reading = { ...reading, template: launchTemplate?.ok ? launchTemplate.value : undefined };
  const facts = await Promise.all(neededFacts(s, complete).map(async (name) => [name, await fact(name)] as const));
  return { complete, ...Object.fromEntries(facts.filter(([, fact]) => fact !== undefined)) };
}

/** How old the answers may be. */
function asking(
  s: EksState,
  complete: boolean,
  readCache: ReadCache,
  signal: AbortSignal,
): Pick<Reading, 'ask' | 'askRarely' | 'askAccess'> {
  const askWithin =
    (maxAgeMs: number): Ask =>
    (question, call) =>
      readCache.shared.get(question, maxAgeMs, s.now, call, signal);
  const isRetried = readCache.isRetried(s.pool);
  const age = complete || isRetried ? completeAge(readCache, s) : s.settings.resyncMs / 2;
  return {
    ask: askWithin(age),
    // An unmet prerequisite may have changed.
    askRarely: askWithin(wasUnmet(s) || isRetried ? age : LONG_MS),
    askAccess: askWithin(isNewlyCreated(readCache, s) ? completeAge(readCache, s) : age),
  };
}

/**
 * The facts that the checks need: all of them (`complete`), otherwise those that others can change while the node group looks healthy. Facts for advice are
 * then read only for advice that the pool has, because it may be outdated, and for advice about a field that the spec has.
 */
function neededFacts({ pool: { spec, status } }: EksState, complete: boolean): FactName[] {
  const given = new Set((status?.checks ?? []).map(({ reason }) => reason));
  const due = checks.filter(
    ({ severity, reason, concerns }) =>
      complete || severity !== 'Advice' || given.has(reason) || concerns?.(spec) === true,
  );
  const needed = new Set(due.flatMap(({ needs = [] }) => needs));
  const names = Object.keys(factTable) as FactName[];
  return names.filter((name) => {
    const { when } = factTable[name];
    return needed.has(name) && (complete || (typeof when === 'string' ? when : when(spec)) !== 'complete');
  });
}
