/** Questions to AWS whose answers several readers share. */

import type { CallResult } from '../../../ports/callResult.ts';
import type { Capacity, InstanceType, Subnet } from '../../../ports/prerequisites.ts';
import { canonical } from '../../../util/hash.ts';
import { subnetTerms } from '../desired/subnets.ts';
import type { EksState } from '../model/groupState.ts';

/** Answers a question from what is cached, or with the call. */
export type Ask = <T>(
  question: string,
  call: (signal: AbortSignal) => Promise<CallResult<T>>,
) => Promise<CallResult<T>>;

/** These instance types; undefined if there are none. */
export function instanceTypesFor(
  names: readonly string[],
  capacity: Pick<Capacity, 'instanceTypes'>,
  ask: Ask,
): Promise<CallResult<readonly InstanceType[]>> | undefined {
  if (names.length === 0) return undefined;
  const types = [...names].sort();
  return ask(`instance types ${types}`, (signal) => capacity.instanceTypes(types, signal));
}

/** The subnets that the spec selects. */
export function subnetsOf(
  { pool, cluster }: EksState,
  capacity: Pick<Capacity, 'subnets'>,
  ask: Ask,
): Promise<CallResult<readonly Subnet[]>> {
  const terms = subnetTerms(pool.spec);
  const vpcId = cluster.kind === 'seen' ? cluster.cluster.vpcId : '';
  return ask(`subnets ${canonical(terms)}`, (signal) => capacity.subnets(terms, vpcId, signal));
}
