/** Reads what the plan for a pool of existing nodes looks at: the cluster's own objects. AWS knows nothing of such a pool, and is not asked. */
import type { WindowsPool } from './api.gen.ts';
import { expectationOf, isPaused } from './facts.ts';
import type { Holdings } from './holdings.ts';
import { type Sources, troubled } from './observe.ts';
import { runtimeClassFor } from './runtimeClass.ts';
import type { Settings, Situation } from './situation.ts';

export interface ExistingSources {
  readonly holdings: Pick<Holdings, 'of'>;
}

/** The situation of a pool of existing nodes. */
export async function observeExisting(
  pool: WindowsPool,
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
  // A node that left the watch while it was the pool's has to get back what it had, if it is still there.
  const trouble = await holding.departures.read(({ claim }) => claim !== '', nodes, now, signal);
  // Nobody tells when it has.
  if (!isPaused(pool)) holding.departures.doubtStrays();
  const situation: Situation = {
    pool,
    now,
    settings,
    cluster: { kind: 'unasked' },
    group,
    update: undefined,
    roster,
    holding,
    // It waits for no other pool: no node of it is taken away.
    fleet: { disrupted: [], failures: [] },
    prerequisites: undefined,
    instances: undefined,
    newestRelease: undefined,
    autoscaler: undefined,
    runtimeClass: wish && runtimeClasses.get(wish.name),
    formerRuntimeClass: former && former !== wish?.name ? runtimeClasses.get(former) : undefined,
    serverVersion,
    troubles: [],
  };
  return trouble ? troubled(situation, 'readNode', trouble) : situation;
}
