import { admit } from '../../disruption/admission.ts';
import { terminatingNodes, withCurrentNodes } from '../../disruption/reservation.ts';
import { clusterCheckStates } from '../../membership/clusterChecks.ts';
import { hasNewMarks, marksState } from '../../membership/marks.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { ExistingNodesConditions } from '../../model/conditions.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { SHORTEST_MS, spread } from '../../rules/retryIntervals.ts';
import type { Provider } from '../provider.ts';
import { existingNodesChains, existingNodesDeletionChains } from './existingChains.ts';
import { existingNodesConditions } from './existingNodesConditions.ts';
import { existingNodesState } from './existingStatus.ts';
import { observeExisting } from './observeExisting.ts';

/** Existing nodes have no size, and any of them may leave: another system replaces it. */
function existingCapacity({ poolNodes }: ObservedState): Capacity {
  const { total, unavailable } = poolNodes;
  return { desired: undefined, size: total, serving: { total, unavailable }, whyNone: '', unjoined: [] };
}

/** Nodes that another system creates: kops, self-managed groups, on-premises, another cloud. */
export const existing: Provider = {
  observe: (pool, _before, context) => observeExisting(pool, context),
  // While a node is drained, its membership is checked against the current spec of the pool.
  mayUseCache: (pool) => terminatingNodes(pool).every(({ drainedTime }) => drainedTime !== undefined),
  capacity: existingCapacity,
  due: (s) => {
    const capacity = existingCapacity(s);
    return { capacity, nodes: admit(s, capacity) };
  },
  needsRead: () => false,
  chains: existingNodesChains,
  deletionChains: existingNodesDeletionChains,
  laterSteps: () => [],
  conditions: existingNodesConditions,
  preview: ({ errors }, _decisions, conditions) => ({
    source: (conditions as ExistingNodesConditions).NodesFound,
    isObserved: errors.length === 0,
    isComplete: true,
    differences: [],
  }),
  status: (outcome) => {
    const { after } = outcome;
    const disruption = withCurrentNodes(outcome);
    const isHeld = disruption?.nodes !== undefined && !isDeleting(after.pool);
    return {
      ...existingNodesState(after),
      ...marksState(after),
      ...clusterCheckStates(after),
      ...(isHeld && { disruption }),
    };
  },
  // Watches report every change; the periodic read is a safety net.
  untilNextRead: (s) => spread(s, s.settings.resyncMs),
  // Nodes are marked when status has the marks.
  untilNextEvent: ({ pool }) => (hasNewMarks(pool) ? SHORTEST_MS : Number.POSITIVE_INFINITY),
  nodeGroupNames: () => [],
  describeUnremovedMarks: () => undefined,
};
