import { admit } from '../../disruption/admission.ts';
import { nextOpening, windowEnd } from '../../disruption/maintenance.ts';
import { terminatingNodes, withCurrentNodes } from '../../disruption/reservation.ts';
import { clusterCheckStates, unmetInCluster } from '../../membership/clusterChecks.ts';
import { hasNewMarks, marksState } from '../../membership/marks.ts';
import type { KarpenterConditions } from '../../model/conditions.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { SHORTEST_MS, spread } from '../../rules/retryIntervals.ts';
import type { Provider } from '../provider.ts';
import { withoutDeleting } from './drainClaims.ts';
import { awaitedSuccessors, karpenterCapacity } from './karpenterCapacity.ts';
import { karpenterChains, karpenterDeletionChains } from './karpenterChains.ts';
import { karpenterChecks } from './karpenterChecks.ts';
import { karpenterConditions } from './karpenterConditions.ts';
import { dueObjects } from './karpenterObjects.ts';
import { karpenterSamples } from './karpenterSamples.ts';
import { type DueKarpenter, type KarpenterDerived, type KarpenterState, startingClaims } from './karpenterState.ts';
import { claimCounts } from './karpenterStatus.ts';
import { factsMs } from './nodeClassFacts.ts';
import { evaluationEnd, replacementEnds, startMs } from './nodePoolReady.ts';
import { observeKarpenter } from './observeKarpenter.ts';

/** Nodes that Karpenter creates when pods need them, from a NodePool that the operator keeps. */
export const karpenter: Provider<KarpenterState, KarpenterDerived> = {
  observe: (pool, _before, context) => observeKarpenter(pool, context),
  // While a node is removed, its NodeClaim is checked against what the API server has now.
  mayUseCache: (pool) => terminatingNodes(pool).length === 0,
  capacity: karpenterCapacity,
  due: dueFor,
  needsRead: () => false,
  chains: karpenterChains,
  deletionChains: karpenterDeletionChains,
  laterSteps: () => [],
  conditions: karpenterConditions,
  preview: ({ errors, karpenter: view }, _decisions, conditions) => ({
    source: (conditions as KarpenterConditions).NodePoolReady,
    isObserved: errors.length === 0 && view.kind !== 'unknown',
    isComplete: view.kind !== 'unknown',
    differences: [],
  }),
  status: (outcome) => {
    const { after } = outcome;
    const counts = claimCounts(after);
    const disruption = withCurrentNodes(outcome);
    // The next node waits until the successor of this one has joined.
    const isHeld = (disruption?.nodes !== undefined || awaitedSuccessors(after) > 0) && !isDeleting(after.pool);
    return {
      ...(counts && { karpenter: counts }),
      ...clusterCheckStates(after, karpenterChecks),
      ...marksState(after),
      ...(isHeld && disruption && { disruption }),
    };
  },
  samples: karpenterSamples,
  // Watches report every change; the periodic read is a safety net.
  untilNextRead: (s) => spread(s, unmetInCluster(s, karpenterChecks) || isHeldUp(s) ? s.settings.pollMs : factsMs(s)),
  untilNextEvent: (s) => (hasNewMarks(s.pool) ? SHORTEST_MS : untilNextChange(s)),
  nodeGroupNames: () => [],
  describeUnremovedMarks: () => undefined,
};

/** Whether something holds up nodes that no watch shows. */
function isHeldUp({ nodeRepair, pendingPods }: KarpenterState): boolean {
  return pendingPods !== undefined || (nodeRepair !== undefined && !(nodeRepair.ok && !nodeRepair.value));
}

function dueFor(s: KarpenterState): DueKarpenter {
  const capacity = karpenterCapacity(s);
  return { capacity, nodes: withoutDeleting(admit(s, capacity), s), ...dueObjects(s) };
}

/**
 * Milliseconds until a maintenance window opens or closes, which changes the budgets of the NodePool, or until a NodeClaim has had no node for too long, or Karpenter
 * should have evaluated the NodePool.
 */
function untilNextChange(s: KarpenterState): number {
  const { pool, now, settings } = s;
  const windows = karpenterIn(pool.spec).update?.maintenanceWindows;
  const late = startingClaims(s).map(({ createdAt }) => createdAt + startMs(settings));
  const times = [
    windowEnd(windows, now),
    nextOpening(windows, now)?.at,
    evaluationEnd(s),
    ...replacementEnds(s),
    ...late,
  ];
  const next = times.filter((time) => time !== undefined && time > now) as number[];
  return Math.min(Number.POSITIVE_INFINITY, ...next.map((time) => time - now));
}
