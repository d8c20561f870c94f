/** The conditions of a pool with a node group, and when it is Ready. Pure. */

import { nodesVerified } from '../../../conditions/nodesVerified.ts';
import { type Readiness, sizeIsZero } from '../../../conditions/ready.ts';
import { runtimeClassReady } from '../../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../../conditions/summary.ts';
import type { NodeGroupConditions } from '../../../model/conditions.ts';
import type { RunResult } from '../../../model/outcome.ts';
import { isOwnedBy } from '../desired/desiredNodeGroup.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { desiredNodes, groupOf, isClusterMismatch, isUnknown } from '../observation/knownGroups.ts';
import { secondGroup } from '../secondGroup/secondGroup.ts';
import { groupNodes } from './groupNodes.ts';
import { nodeGroupReady } from './nodeGroupReady.ts';
import { prerequisitesMet } from './prerequisitesMet.ts';
import { upToDate } from './upToDate.ts';

type Parts = PartsOf<NodeGroupConditions>;

/** The conditions of a pool with a node group. */
export function nodeGroupConditions(result: RunResult<EksDerived>): NodeGroupConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet: prerequisitesMet(s),
    NodeGroupReady: nodeGroupReady(result),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, groupNodes),
    UpToDate: upToDate(result),
  };
  return summarize(result, parts, readiness);
}

const readiness: Readiness<Parts> = {
  source: 'NodeGroupReady',
  // A deletion is stalled only by a cluster mismatch, which PrerequisitesMet reports.
  stallsDeletion: ['PrerequisitesMet'],
  isForeign: isClusterMismatch,
  isBusy: (s: EksState) => ['CREATING', 'UPDATING', 'DELETING'].includes(groupOf(s)?.status ?? ''),
  unavailable: (s: EksState, { PrerequisitesMet, NodeGroupReady }) => {
    // The nodes of a group that is being replaced serve the pool.
    if (secondGroup(s) && s.poolNodes.total > 0) return undefined;
    if (['ACTIVE', 'UPDATING', 'DEGRADED'].includes(lastKnownState(s).status)) return undefined;
    // A prerequisite that could not be checked blocks nothing, so it is not the cause.
    return PrerequisitesMet.status === 'False' || PrerequisitesMet.working ? PrerequisitesMet : NodeGroupReady;
  },
  empty: (s: EksState) =>
    (secondGroup(s) ? desiredNodes(s) : lastKnownState(s).desired) === 0 ? sizeIsZero(s) : undefined,
  isRolling,
};

/**
 * Whether a pool that was Ready only waits, within the join grace period, for nodes that an update of its group replaces. At least one node
 * must be verified.
 */
function isRolling(s: EksState, { NodesVerified }: Parts): boolean {
  const wasReady = s.pool.status?.tracking?.ready === true;
  return (
    wasReady && lastKnownState(s).status === 'UPDATING' && NodesVerified.status !== 'False' && s.poolNodes.verified > 0
  );
}

/** The last known state of the pool's own group: as observed, or from status when AWS has not answered since the operator started. */
function lastKnownState(s: EksState): { readonly status: string; readonly desired: number | undefined } {
  const group = groupOf(s);
  if (group && isOwnedBy(s.pool, group)) return { status: group.status, desired: group.scaling.desiredSize };
  if (group) return { status: '', desired: undefined };
  const recorded = isUnknown(s.group) ? s.pool.status : undefined;
  return { status: recorded?.nodeGroup?.status ?? '', desired: recorded?.nodes?.desired };
}
