import { admit } from '../../disruption/admission.ts';
import { terminatingNodes, withCurrentNodes } from '../../disruption/reservation.ts';
import { clusterCheckStates } from '../../membership/clusterChecks.ts';
import { hasNewMarks, marksState } from '../../membership/marks.ts';
import type { MachinesConditions } from '../../model/conditions.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { SHORTEST_MS, spread } from '../../rules/retryIntervals.ts';
import type { Provider } from '../provider.ts';
import { withoutDeleting } from './drainMachines.ts';
import { lateAt } from './instances.ts';
import { machinesCapacity } from './machinesCapacity.ts';
import { machinesChains, machinesDeletionChains } from './machinesChains.ts';
import { machinesConditions } from './machinesConditions.ts';
import { machinesSamples } from './machinesSamples.ts';
import { DELETED, type MachinesDerived, type MachinesState } from './machinesState.ts';
import { machineCounts } from './machinesStatus.ts';
import { observeMachines } from './observeMachines.ts';
import { rolloutOf } from './rollout.ts';
import { lastSize } from './sizeRules.ts';
import { templateFailuresOf } from './templateFailures.ts';

/** Machines of Cluster API and of OpenShift, which a user's MachineDeployment or MachineSet keeps. */
export const machines: Provider<MachinesState, MachinesDerived> = {
  observe: (pool, _before, context) => observeMachines(pool, context),
  // While a node is drained, its Machine is checked against what the API server has now.
  mayUseCache: (pool) => terminatingNodes(pool).length === 0,
  capacity: machinesCapacity,
  due: (s) => {
    const rollout = rolloutOf(s);
    const capacity = machinesCapacity(s, rollout);
    return { capacity, nodes: withoutDeleting(admit(s, capacity), s), ...(rollout && { rollout }) };
  },
  needsRead: () => false,
  chains: machinesChains,
  deletionChains: machinesDeletionChains,
  laterSteps: () => [],
  conditions: machinesConditions,
  preview: ({ errors, machines: view }, _decisions, conditions) => ({
    source: (conditions as MachinesConditions).MachinesReady,
    isObserved: errors.length === 0 && view.kind !== 'unknown',
    isComplete: view.kind !== 'unknown',
    differences: [],
  }),
  status: (outcome) => {
    const { after } = outcome;
    const counts = machineCounts(after);
    const disruption = withCurrentNodes(outcome);
    const isHeld = disruption?.nodes !== undefined && !isDeleting(after.pool);
    const size = lastSize(after);
    const { tracking } = marksState(after);
    return {
      ...(counts && { machines: counts }),
      ...clusterCheckStates(after),
      tracking: {
        ...tracking,
        ...(size !== undefined && { lastAppliedDesiredSize: size }),
        ...(after.usedTemplate !== undefined && { usedMachineTemplate: after.usedTemplate }),
      },
      ...(isHeld && { disruption }),
    };
  },
  samples: machinesSamples,
  // Watches report every change; the periodic read is a safety net.
  untilNextRead: (s) => spread(s, s.settings.resyncMs),
  untilNextEvent: (s) => (hasNewMarks(s.pool) || isJustDeleted(s) ? SHORTEST_MS : untilLate(s)),
  shownSize: (s) => s.due.capacity.desired,
  nodeGroupNames: () => [],
  releaseFailures: templateFailuresOf,
  describeUnremovedMarks: () => undefined,
};

/** Whether this run found that the object of the deleted pool is gone: its nodes are released in the next one, which no watch announces. */
function isJustDeleted({ pool, usedTemplate }: MachinesState): boolean {
  return usedTemplate === DELETED && pool.status?.tracking?.usedMachineTemplate !== DELETED;
}

/** Milliseconds until the next Machine has had no node for too long, or a MachinePool too few. */
function untilLate(s: MachinesState): number {
  const { machines: view, now, settings } = s;
  const times = view.kind === 'seen' ? view.machines.filter(({ node }) => node === '') : [];
  const ends = times.map(({ createdAt }) => createdAt + settings.joinGraceMs - now).filter((ms) => ms > 0);
  const late = lateAt(s);
  const next = late !== undefined && late > now ? late - now : Number.POSITIVE_INFINITY;
  return Math.min(next, ...ends);
}
