import type { Provider } from '../provider.ts';
import { adviceStates } from './advice/states.ts';
import { nodeGroupConditions } from './conditions.ts';
import { nodeGroupNamesOf } from './nodeGroup.ts';
import { needsInstances, observeNodeGroup } from './observe.ts';
import { deletionChains, laterSteps, poolChains } from './plan.ts';
import { needsExamination } from './prerequisites/examination.ts';
import { prerequisiteStates } from './prerequisites/prerequisiteStates.ts';
import { unremovedMarks } from './retain.ts';
import { untilGroupRead, untilWindow } from './schedule.ts';
import { bookkeepingOf, nodeGroupState } from './status.ts';

/** Managed node groups of EKS. */
export const eks: Provider = {
  observe: observeNodeGroup,
  mayUseCache: (_pool, snapshot) => snapshot !== undefined,
  needsRead: (s) => needsInstances(s) || needsExamination(s) || !s.poolNodes.isConfirmed,
  chains: poolChains,
  deletionChains,
  pendingSteps: laterSteps,
  conditions: nodeGroupConditions,
  status: (outcome) => {
    const prerequisites = prerequisiteStates(outcome.after);
    const advice = adviceStates(outcome.after);
    const bookkeeping = bookkeepingOf(outcome);
    return {
      nodeGroup: nodeGroupState(outcome),
      ...(prerequisites.length > 0 && { prerequisites }),
      ...(advice.length > 0 && { advice }),
      ...(bookkeeping && { bookkeeping }),
    };
  },
  untilNextRead: untilGroupRead,
  untilNextEvent: untilWindow,
  nodeGroupNames: nodeGroupNamesOf,
  describeUnremovedMarks: unremovedMarks,
};
