/** The part of a preview about a node group. Pure. */
import type { ConditionSet, ConditionState, NodeGroupConditions } from '../../model/conditions.ts';
import type { Decision } from '../../model/decisions.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { waitOf } from '../../rules/ruleChains.ts';
import type { PreviewPart } from '../provider.ts';
import { describeDifference } from './changes/describeDifferences.ts';
import { isOwnedBy } from './desired/desiredNodeGroup.ts';
import type { EksDerived } from './model/groupDue.ts';
import { groupOf, isUnknown } from './observation/knownGroups.ts';

/** What a preview shows of a node group. */
export function nodeGroupPreview(s: EksDerived, decisions: readonly Decision[], conditions: ConditionSet): PreviewPart {
  const { NodeGroupReady, UpToDate } = conditions as NodeGroupConditions;
  const unchecked = s.due.prerequisites.results?.unknown ?? [];
  const isReleaseKnown = s.newestRelease?.ok !== false;
  return {
    source: NodeGroupReady,
    isObserved: !isUnknown(s.group) && s.cluster.kind !== 'unreachable',
    isComplete: unchecked.length === 0 && isReleaseKnown,
    differences: differencesIn(s),
    ...((isWaiting(UpToDate, decisions) || !isReleaseKnown) && { waiting: UpToDate }),
  };
}

/** Whether UpToDate says what an update waits for, or that it will never start. */
function isWaiting({ reason }: ConditionState, decisions: readonly Decision[]): boolean {
  const wait = waitOf(decisions, 'version');
  return reason === 'InvalidMaintenanceWindow' || (wait?.message !== undefined && wait.reason === reason);
}

function differencesIn(s: EksDerived): string[] {
  const group = groupOf(s);
  if (!group || isDeleting(s.pool)) return [];
  const { all, immutable } = s.due.differences;
  const differences = all.map(describeDifference);
  if (isOwnedBy(s.pool, group)) return differences;
  if (s.due.adoption?.kind !== 'take') return [];
  // For a group that the pool owns, the condition says so.
  return [...differences, ...immutable.map((text) => `${text}; EKS cannot change it`)];
}
