/** Reads the facts that advice needs. */

import type { LaunchTemplate, PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { securityGroupTerms } from '../launchTemplate/machine.ts';
import type { EksState } from '../model/groupState.ts';
import type { AdviceFacts } from '../model/prerequisiteFacts.ts';
import { type Ask, instanceTypesFor, subnetsOf } from '../prerequisites/questions.ts';
import { instanceTypesOf } from '../versions/launchTemplate.ts';
import { checks } from './adviceChecks.ts';
import { controlPlaneGroups } from './portChecks.ts';

/** What the facts are read with. */
interface Reading {
  readonly s: EksState;
  readonly sources: Pick<PrerequisiteSources, 'capacity' | 'securityGroups' | 'system'>;
  /** Returns answers that pools share, and that can be an hour old. */
  readonly ask: Ask;
  /** The launch template that the pool names, as far as it is known. */
  readonly template: LaunchTemplate | undefined;
}

/** How each fact is read. */
const readers: {
  readonly [N in keyof Required<AdviceFacts>]: (reading: Reading) => Promise<AdviceFacts[N]> | undefined;
} = {
  subnets: ({ s, sources, ask }) => subnetsOf(s, sources.capacity, ask),
  dnsNodes: ({ sources, ask }) => ask('CoreDNS pods', (signal) => sources.system.dnsNodes(signal)),
  instanceTypes: ({ s, sources, ask, template }) =>
    instanceTypesFor(instanceTypesOf(s.pool.spec, template), sources.capacity, ask),
  securityGroups: ({ s, sources, ask, template }) => {
    const { cluster } = s;
    if (cluster.kind !== 'seen' || cluster.cluster.securityGroup === undefined) return undefined;
    // Those that the spec selects by tags are among the other facts.
    const named = template?.securityGroups ?? securityGroupTerms(s.pool.spec).flatMap(({ id }) => id ?? []);
    const sorted = [...new Set([...controlPlaneGroups(cluster.cluster), ...named])].sort();
    return ask(`security groups ${sorted}`, (signal) => sources.securityGroups.find(sorted, signal));
  },
  encryptsVolumes: ({ sources, ask }) =>
    ask('encryption of volumes', (signal) => sources.capacity.encryptsVolumes(signal)),
};

/**
 * Reads the facts in parallel: all of them together with all prerequisites (`complete`), otherwise those of the advice that the pool has, because it may be
 * outdated, and of advice about a field that the spec has. Undefined when there are none.
 */
export async function gatherAdvice(reading: Reading, complete: boolean): Promise<AdviceFacts | undefined> {
  const { spec, status } = reading.s.pool;
  const given = new Set((status?.advice ?? []).map(({ reason }) => reason));
  const wanted = new Set(
    checks.flatMap(({ reason, needs, concerns }) => (complete || given.has(reason) || concerns?.(spec) ? needs : [])),
  );
  if (wanted.size === 0) return undefined;
  const facts = await Promise.all([...wanted].map(async (name) => [name, await readers[name](reading)] as const));
  return Object.fromEntries(facts.filter(([, fact]) => fact !== undefined));
}
