/** Reads what the plan for a pool of existing nodes looks at: the cluster's own objects. AWS knows nothing of such a pool, and is not asked. */
import type { WindowsPool } from '../api.gen.ts';
import { expectationOf, isDeleting, isPaused } from '../facts.ts';
import { type Sources, troubled } from '../observe.ts';
import type { OperationSight } from '../operations/leavingSight.ts';
import { withOperations } from '../operations/observeOperations.ts';
import type { Trouble } from '../ports/answer.ts';
import type { InstanceLists } from '../ports/nodes.ts';
import { runtimeClassFor } from '../runtimeClass.ts';
import type { Settings, Situation } from '../situation.ts';
import type { Holdings } from './holdings.ts';
import { claimOf } from './nodeClaims.ts';

export interface ExistingSources {
  readonly holdings: Pick<Holdings, 'of' | 'confirms'>;
  readonly instanceLists: InstanceLists;
}

/** The situation of a pool of existing nodes. */
export async function observeExisting(
  pool: WindowsPool,
  before: OperationSight | undefined,
  sources: Sources,
  settings: Settings,
  now: number,
  signal: AbortSignal,
): Promise<Situation> {
  const { holdings, runtimeClasses, nodes } = sources;
  const serverVersion = sources.serverVersion();
  const group = { kind: 'none' } as const;
  const { roster, holding } = holdings.of(pool.metadata.name, expectationOf({ pool, group, serverVersion, settings }));
  const wish = runtimeClassFor(pool);
  const former = pool.status?.runtimeClass?.name;
  const unseen = await lookOutside(pool, holding, sources, signal);
  // A node that left the watch while it was the pool's has to get back what it had, if it is still there.
  const trouble = await holding.departures.read(({ claim }) => Boolean(claim), nodes, now, signal);
  const { listed, contested, leaving, awaited } = holding;
  // Nobody tells when it has: it is read again before more is done to it.
  if (!isPaused(pool)) holding.departures.doubtStrays();
  const situation: Situation = {
    pool,
    now,
    settings,
    cluster: { kind: 'unasked' },
    group,
    update: undefined,
    roster,
    holding: {
      listed,
      contested,
      leaving,
      awaited,
      contention: holding.contention.at(now),
      nextReadAt: holding.nextReadAt,
    },
    fleet: sources.fleet.seenBy(pool.metadata.name),
    prerequisites: undefined,
    instances: undefined,
    newestRelease: undefined,
    autoscaler: undefined,
    runtimeClass: wish && runtimeClasses.get(wish.name),
    formerRuntimeClass: former && former !== wish?.name ? runtimeClasses.get(former) : undefined,
    serverVersion,
    troubles: [],
  };
  const failed = unseen ?? trouble;
  const known = failed ? troubled(situation, 'readNode', failed) : situation;
  return withOperations(known, before, false, sources, signal);
}

/**
 * Asks for nodes of the pool that left the watch while no operator ran: once in its life, and again before the pool goes, when nobody could
 * do anything for them afterwards. Gives the trouble that it ended with.
 */
async function lookOutside(
  pool: WindowsPool,
  holding: ReturnType<Holdings['of']>['holding'],
  { nodes }: Pick<Sources, 'nodes'>,
  signal: AbortSignal,
): Promise<Trouble | undefined> {
  const { name } = pool.metadata;
  if (holding.lookedOutside && !isDeleting(pool)) return undefined;
  const answer = await nodes.outside(name, signal);
  if (!answer.ok) return answer.trouble;
  holding.lookedOutside = true;
  for (const node of answer.value) if (claimOf(node)?.pool === name) holding.departures.left(node);
  return undefined;
}
