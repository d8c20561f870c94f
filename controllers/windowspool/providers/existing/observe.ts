/** Reads what the plan for a pool of existing nodes looks at: the cluster's own objects. AWS knows nothing of such a pool, and is not asked. */

import type { WindowsPool } from '../../api.gen.ts';
import { withOperations } from '../../disruption/observe.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { CallError } from '../../ports/callResult.ts';
import { expectationOf, isDeleting, isPaused, withError } from '../../queries.ts';
import { runtimeClassFor } from '../../runtimeClass/runtimeClass.ts';
import type { Sources } from '../../sources.ts';
import type { ObserveContext } from '../provider.ts';
import { looker } from './disruption.ts';
import type { NodeMembership } from './nodeMembership.ts';
import { ownershipOf } from './ownershipRecord.ts';

/** The situation of a pool of existing nodes. */
export async function observeExisting(
  pool: WindowsPool,
  { awsCache, sources, settings, now, signal }: ObserveContext,
): Promise<ObservedState> {
  const { nodeMembership, runtimeClasses, nodes } = sources;
  const serverVersion = sources.serverVersion();
  const group = { kind: 'none' } as const;
  const { poolNodes, membership } = nodeMembership.of(
    pool.metadata.name,
    expectationOf({ pool, group, serverVersion, settings }),
  );
  const desired = runtimeClassFor(pool);
  const former = pool.status?.runtimeClass?.name;
  const unseen = await lookOutside(pool, membership, sources, signal);
  // A node that left the watch while it was the pool's has to get back what it had, if it is still there.
  const error = await membership.departures.read(({ ownership }) => Boolean(ownership), nodes, now, signal);
  const { listed, contested, toRelease, awaited } = membership;
  // Nobody tells when it has: it is read again before more is done to it.
  if (!isPaused(pool)) membership.departures.recheckUnlabelled();
  const observed: ObservedState = {
    pool,
    now,
    settings,
    cluster: { kind: 'unasked' },
    group,
    update: undefined,
    poolNodes,
    membership: {
      listed,
      contested,
      toRelease,
      awaited,
      contention: membership.contention.at(now),
      nextReadAt: membership.nextReadAt,
    },
    fleet: sources.fleet.seenBy(pool.metadata.name),
    prerequisites: undefined,
    instances: undefined,
    newestRelease: undefined,
    autoscaler: undefined,
    runtimeClass: desired && runtimeClasses.get(desired.name),
    formerRuntimeClass: former && former !== desired?.name ? runtimeClasses.get(former) : undefined,
    serverVersion,
    errors: [],
  };
  const failed = unseen ?? error;
  const known = failed ? withError(observed, 'readNode', failed) : observed;
  const passed = awsCache.operations.get(pool.metadata.name);
  return withOperations(known, passed, false, () => looker(known, sources, signal));
}

/**
 * Asks for nodes of the pool that left the watch while no operator ran: once in its life, and again before the pool goes, when nobody could
 * do anything for them afterwards. Gives the trouble that it ended with.
 */
async function lookOutside(
  pool: WindowsPool,
  membership: ReturnType<NodeMembership['of']>['membership'],
  { nodes }: Pick<Sources, 'nodes'>,
  signal: AbortSignal,
): Promise<CallError | undefined> {
  const { name } = pool.metadata;
  if (membership.lookedOutside && !isDeleting(pool)) return undefined;
  const answer = await nodes.outside(name, signal);
  if (!answer.ok) return answer.error;
  membership.lookedOutside = true;
  for (const node of answer.value) if (ownershipOf(node)?.pool === name) membership.departures.left(node);
  return undefined;
}
