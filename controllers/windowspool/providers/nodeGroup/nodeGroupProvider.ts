import type { WindowsPool } from '../../api/api.gen.ts';
import type { Provider } from '../provider.ts';
import { controllerWarningOf, nextWarningAt } from './checks/controllerWarnings.ts';
import { nodeGroupConditions } from './conditions/nodeGroupConditions.ts';
import { dueForNodeGroup } from './derive/deriveGroup.ts';
import { nodeGroupNameOf, nodeGroupNamesOf } from './desired/desiredNodeGroup.ts';
import { unremovedMarks } from './desired/retain.ts';
import { capacityOf } from './groupCapacity.ts';
import { deletionChains, laterSteps, poolChains } from './groupChains.ts';
import { awsErrorsOf, untilGroupRead } from './groupSchedule.ts';
import type { EksDerived } from './model/groupDue.ts';
import type { EksState } from './model/groupState.ts';
import { nodeGroupPreview } from './nodeGroupPreview.ts';
import { groupOf } from './observation/knownGroups.ts';
import { type AwsSnapshot, awsRead } from './observation/nodeGroupSnapshot.ts';
import { needsFacts, needsInstances, observeNodeGroup } from './observeGroup.ts';
import { clusterState, groupCheckStates, nodeGroupState, shownSize, trackingOf } from './reporting/groupStatus.ts';
import { publishOfNodeGroup } from './reporting/nodeGroupEvents.ts';
import { nodeGroupSamples } from './reporting/nodeGroupSamples.ts';
import { isRecordLost } from './secondGroup/secondGroup.ts';
import { takeSteps } from './takeSteps.ts';
import { releaseFailuresOf } from './versions/releaseFailures.ts';
import { nextReservation } from './versions/updateReservation.ts';

/** Managed node groups of EKS. */
export const eks: Provider<EksState, EksDerived> = {
  observe: (pool, before, context) => observeNodeGroup(pool, before as AwsSnapshot | undefined, context),
  snapshot: awsRead,
  mayUseCache: (pool, snapshot) => snapshot !== undefined && isOfMainGroup(pool, snapshot as AwsSnapshot),
  needsRead: (s) => needsInstances(s) || needsFacts(s, s.due.prerequisites.scope) || !s.poolNodes.isConfirmed,
  capacity: capacityOf,
  due: dueForNodeGroup,
  chains: poolChains,
  deletionChains,
  laterSteps,
  conditions: nodeGroupConditions,
  status: (outcome) => {
    const checks = groupCheckStates(outcome.after);
    const cluster = clusterState(outcome.after);
    const tracking = trackingOf(outcome);
    const disruption = nextReservation(outcome);
    return {
      ...(!isRecordLost(outcome.after) && { nodeGroup: nodeGroupState(outcome) }),
      ...(checks.length > 0 && { checks }),
      ...(cluster && { cluster }),
      ...(tracking && { tracking }),
      ...(disruption && { disruption }),
    };
  },
  takeSteps,
  preview: nodeGroupPreview,
  samples: nodeGroupSamples,
  publish: publishOfNodeGroup,
  untilNextRead: untilGroupRead,
  untilNextEvent: (s) => nextWarningAt(s) - s.now,
  outsideErrors: awsErrorsOf,
  isUnconfirmed: ({ group, second }) => group.kind === 'unconfirmed' || second?.kind === 'unconfirmed',
  shownSize,
  explainNode: controllerWarningOf,
  nodeGroupNames: nodeGroupNamesOf,
  releaseFailures: releaseFailuresOf,
  describeUnremovedMarks: unremovedMarks,
};

/** Whether the snapshot is of the group that is the main one now: if the status was lost, the pool may have the other name again. */
function isOfMainGroup(pool: WindowsPool, { group }: AwsSnapshot): boolean {
  return (groupOf({ group })?.name ?? nodeGroupNameOf(pool)) === nodeGroupNameOf(pool);
}
