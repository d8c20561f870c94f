/** Questions to AWS whose answers several readers share. */
import type { ObservedState } from '../../../model/observedState.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { Capacity, Subnet } from '../../../ports/prerequisites.ts';
import { canonical } from '../../../util/hash.ts';
import { subnetTerms } from '../subnets.ts';

/** Answers a question from what is cached, or with the call. */
export type Ask = <T>(
  question: string,
  call: (signal: AbortSignal) => Promise<CallResult<T>>,
) => Promise<CallResult<T>>;

/** The subnets that the spec selects. */
export function subnetsOf(
  { pool, cluster }: ObservedState,
  capacity: Pick<Capacity, 'subnets'>,
  ask: Ask,
): Promise<CallResult<readonly Subnet[]>> {
  const terms = subnetTerms(pool.spec);
  const vpcId = cluster.kind === 'seen' ? cluster.cluster.vpcId : '';
  return ask(`subnets ${canonical(terms)}`, (signal) => capacity.subnets(terms, vpcId, signal));
}
