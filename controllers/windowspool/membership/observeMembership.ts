/** Reads the observed state of a pool that puts its labels and taints on nodes, from the cache alone. */

import type { WindowsPool } from '../api/api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import { ownershipOf } from '../nodes/ownershipRecord.ts';
import { SETTLING_MS } from '../nodes/verify.ts';
import { baseState } from '../observation/baseState.ts';
import type { Sources } from '../observation/sources.ts';
import type { CallError } from '../ports/callResult.ts';
import type { ObserveContext } from '../providers/provider.ts';
import { isDeleting, isPaused, withError } from '../rules/poolQueries.ts';
import { readClusterFacts } from './clusterChecks.ts';
import type { NodeMembership } from './nodeMembership.ts';

declare module '../observation/sources.ts' {
  interface Sources {
    readonly nodeMembership: Pick<NodeMembership, 'of' | 'confirms'>;
  }
}

/** The observed state of a pool with its nodes, and without the terminating ones. */
export async function observeMembership(pool: WindowsPool, context: ObserveContext): Promise<ObservedState> {
  const { sources, now, signal } = context;
  const { nodeMembership, nodes } = sources;
  const { base, expected } = baseState(pool, { hasGateTaint: false, settlingMs: SETTLING_MS }, context);
  const { poolNodes, membership, contested, listed } = nodeMembership.of(pool.metadata.name, expected);
  const unwatchedError = await readUnwatchedNodes(pool, membership, sources, signal);
  // A node that left the watch while the pool owned it must be released if it still exists.
  const error = await membership.unwatchedNodes.read(({ ownership }) => Boolean(ownership), nodes, now, signal);
  const { toRelease, awaited } = membership;
  // No watch reports when such a node is released, so it is read again before the next write.
  if (!isPaused(pool)) membership.unwatchedNodes.recheckUnlabelled();
  const observed: ObservedState = {
    ...base,
    poolNodes,
    membership: {
      listed,
      contested,
      toRelease,
      awaited,
      contention: membership.contention.at(now),
      nextReadAt: membership.nextReadAt,
    },
    ...(!isDeleting(pool) && { clusterFacts: await readClusterFacts(context) }),
    errors: [],
  };
  const failed = unwatchedError ?? error;
  return failed ? withError(observed, 'readNode', failed) : observed;
}

/**
 * Reads the pool's nodes that left the watch while the operator was not running: once per process, and again before the pool is deleted,
 * because no controller could release them afterwards. Returns the error of the call.
 */
async function readUnwatchedNodes(
  pool: WindowsPool,
  membership: ReturnType<NodeMembership['of']>['membership'],
  { nodes }: Pick<Sources, 'nodes'>,
  signal: AbortSignal,
): Promise<CallError | undefined> {
  const { name } = pool.metadata;
  if (membership.hasReadUnwatched && !isDeleting(pool)) return undefined;
  const answer = await nodes.outside(name, signal);
  if (!answer.ok) return answer.error;
  membership.hasReadUnwatched = true;
  for (const node of answer.value) if (ownershipOf(node)?.pool === name) membership.unwatchedNodes.left(node);
  return undefined;
}
