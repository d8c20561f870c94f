import { terminatingNodes } from '../../disruption/reservation.ts';
import { spread } from '../../intervals.ts';
import type { Provider } from '../provider.ts';
import { existingNodesConditions } from './conditions.ts';
import { observeExisting } from './observe.ts';
import { existingNodesChains, existingNodesDeletionChains } from './plan.ts';
import { existingNodesState } from './status.ts';

/** Nodes that something else made: kops, self-managed groups, on-premises, another cloud. */
export const existing: Provider = {
  observe: (pool, _before, context) => observeExisting(pool, context),
  // A node that is being drained must be the pool's by what the pool says now.
  mayUseCache: (pool) => terminatingNodes(pool).every(({ drained }) => drained !== undefined),
  needsRead: () => false,
  chains: existingNodesChains,
  deletionChains: existingNodesDeletionChains,
  pendingSteps: () => [],
  conditions: existingNodesConditions,
  status: ({ after }) => existingNodesState(after),
  // Events report everything there; a read once in a while is for what nobody thought of.
  untilNextRead: (s) => spread(s, s.settings.resyncMs),
  untilNextEvent: () => Number.POSITIVE_INFINITY,
  nodeGroupName: () => undefined,
  describeUnremovedMarks: () => undefined,
};
