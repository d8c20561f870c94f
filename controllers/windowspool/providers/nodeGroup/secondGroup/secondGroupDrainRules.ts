/** Rules for the end of a second node group: its nodes are drained, and then it is deleted. */
import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import { instanceIdOf } from '../../../nodes/unwatchedNodes.ts';
import type { ConfigChange, NodeGroup } from '../../../ports/eks.ts';
import { waitFor } from '../../../rules/ruleChains.ts';
import { count } from '../../../util/words.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { tokenFor } from '../groupRules.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { writeAheadRecordFor } from '../reporting/writeAheadStatus.ts';
import { isCanary } from './canary.ts';
import { reasonOf } from './describeSecondGroup.ts';
import { factsOf } from './phases.ts';
import {
  canaryIn,
  canShrink,
  canTakeOver,
  drainRetriedAt,
  inPhase,
  isDraining,
  isRetiring,
  nodesOfSecond,
  replacementIn,
  secondIn,
  unlistedNode,
} from './secondGroup.ts';

type Result = RuleResult | Step[] | undefined;
type ShrinkingChange = Pick<ConfigChange, 'scaling' | 'warmPool'>;

/** The rules in order. A second group is left alone while it is not known, or not the pool's. */
export const drainRules = (
  [
    waitForEks,
    retryDeletion,
    deleteUnusedGroup,
    waitForMainGroup,
    beginDraining,
    allowToShrink,
    deleteDrainedGroup,
    waitForDrain,
    cordonNodes,
  ] satisfies ((s: EksDerived, second: NodeGroup) => Result)[]
).map((rule) => (s: EksDerived): Result => {
  const second = secondIn(s.pool) && ownedGroup(s.pool, s.second);
  // A record alone must not make the group that serves a canary that is drained.
  const isRecorded = second && (!canaryIn(s.pool) || isCanary(second));
  return isRecorded ? rule(s, second) : [];
});

/** Ensures that a second group is left alone while EKS works on it. */
function waitForEks(s: EksDerived, { status }: NodeGroup): Result {
  return ['UPDATING', 'DELETING'].includes(status) ? waitFor(reasonOf(s), 'read', { progress: true }) : undefined;
}

/** Ensures that the deletion is tried again after a failure, not at every read. */
function retryDeletion(s: EksDerived, second: NodeGroup): Result {
  if (second.status !== 'DELETE_FAILED') return undefined;
  const until = second.modifiedAt + s.settings.createRetryMs;
  return s.now < until ? waitFor(reasonOf(s), 'time', { until }) : deleted(second, 'it is DELETE_FAILED');
}

/** Ensures that a second group that never had a node to drain is deleted at once. */
function deleteUnusedGroup(s: EksDerived, second: NodeGroup): Result {
  const { status } = second;
  if (status !== 'CREATING' && status !== 'CREATE_FAILED') return undefined;
  return nodesOfSecond(s).length > 0 && status === 'CREATING'
    ? waitFor(reasonOf(s), 'read', { progress: true })
    : deleted(second, `it is ${status} and no longer needed`);
}

/** Ensures that the second group is untouched until the main one has enough verified nodes. */
function waitForMainGroup(s: EksDerived): Result {
  return isDraining(s) || canTakeOver(s) ? undefined : waitFor(reasonOf(s), 'watch', { progress: true });
}

/** Ensures that status records that the main group serves before the second one changes: from here on, only the spec itself can reverse the roles. */
function beginDraining(s: EksState, { name }: NodeGroup): Result {
  const record = replacementIn(s.pool);
  if (isDraining(s) || !record || s.group.kind !== 'seen') return undefined;
  const ahead = writeAheadRecordFor(s, { second: { replacement: inPhase(record, factsOf(record).whenReady, s.now) } });
  return ahead && [{ kind: 'beginDraining', ahead, text: describeDrainOf(s, `node group ${name}`) }];
}

/** The drain of the second group that begins, as text. */
export function describeDrainOf(s: EksState, group: string): string {
  return `drain the ${count(nodesOfSecond(s).length, 'node')} of ${group}, then delete it`;
}

/**
 * Ensures that the second group can shrink to zero, that an autoscaler does not let it grow again, and that no instance of it gets ready for the next
 * node: a warm pool fills up while its group shrinks, or takes the instances of the nodes that leave.
 */
function allowToShrink(s: EksState, second: NodeGroup): Result {
  if (canShrink(second)) return undefined;
  const { scaling, warmPool } = second;
  const change = {
    ...(scaling.minSize > 0 && { scaling: { minSize: 0, maxSize: Math.max(1, scaling.desiredSize) } }),
    ...(warmPool && { warmPool: 'Removed' as const }),
  };
  return shrunk(s, second, change);
}

function shrunk({ pool }: EksState, { name, arn, modifiedAt }: NodeGroup, change: ShrinkingChange): Step[] {
  // An update that failed has modified the group: with the same token, EKS would only repeat that it had accepted it.
  const token = tokenFor(pool, 'shrink', { ...change, group: arn, modifiedAt }, secondIn(pool)?.lastTransitionTime);
  return [{ kind: 'shrinkSecondGroup', group: name, change, token }];
}

/**
 * Ensures that the second group is deleted when its last node is gone, and its size is 0. A list of its instances selects the nodes to drain, and does not
 * prove that there are no others: both steps are refused while a node with its label is Ready.
 */
function deleteDrainedGroup(s: EksDerived, second: NodeGroup): Result {
  if (nodesOfSecond(s).length > 0) return undefined;
  if (unlistedNode(s)) return waitFor(reasonOf(s), 'watch', { progress: true });
  if (second.scaling.desiredSize > 0) return shrunk(s, second, { scaling: { desiredSize: 0 } });
  const why = canaryIn(s.pool) ? 'the canary has ended' : `node group ${nodeGroupNameOf(s.pool)} replaces it`;
  return deleted(second, why, true);
}

/** Ensures that no node of the second group leaves soon after a drain that failed, nor before the main group has enough verified nodes. */
function waitForDrain(s: EksDerived): Result {
  if (isRetiring(s)) return undefined;
  const until = canTakeOver(s) ? drainRetriedAt(s) : undefined;
  return until === undefined
    ? waitFor(reasonOf(s), 'watch', { progress: true })
    : waitFor(reasonOf(s), 'time', { until });
}

/** Ensures that evicted pods do not land on other nodes that leave too: all nodes of the second group are cordoned before the first is drained. */
function cordonNodes(s: EksState, { autoScalingGroups: scalingGroups }: NodeGroup): Result {
  return nodesOfSecond(s)
    .filter(({ unschedulable }) => !unschedulable)
    .map((node) => ({ kind: 'cordonNode', node, check: { instanceID: instanceIdOf(node), scalingGroups } }));
}

function deleted({ name }: NodeGroup, why: string, isDrained = false): Step[] {
  return [{ kind: 'deleteSecondGroup', group: name, why, isDrained }];
}
