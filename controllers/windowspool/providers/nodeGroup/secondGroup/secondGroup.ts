/**
 * The second node group of a pool. The main group is the one that the spec describes and that the pool keeps, whichever of the two names it has. The second
 * group is beside it until it is drained and deleted: in a replacement the old group, and otherwise the canary. Pure.
 *
 *   spec changed --the names switch--> main group created --enough nodes verified--> second group drained, then deleted
 *        ^                                    |
 *        +------------spec reverted-----------+   the names switch back
 */
import type { NodeGroupState, SecondNodeGroup, WindowsPool } from '../../../api/api.gen.ts';
import { FINALIZER, NODE_GROUP_LABEL } from '../../../api/labels.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { NodeRecord } from '../../../ports/nodes.ts';
import { nodeGroupIn, scalingIn } from '../../../rules/nodeSource.ts';
import { timeOf } from '../../../util/durations.ts';
import { acceptsUpdates, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, isUnknown, lastOwnedGroup, ownedGroup } from '../observation/knownGroups.ts';
import { factsOf, isDrainPhase, type Phase } from './phases.ts';

/** The record of a second group in status, under the name of what the group is for. */
export type SecondRecord = Pick<NodeGroupState, 'replacement' | 'canary'>;

/** What status records of a replacement; undefined when none is in progress. */
export function replacementIn({ status }: Pick<WindowsPool, 'status'>): SecondNodeGroup | undefined {
  return status?.nodeGroup?.replacement;
}

/** What status records of the canary; undefined when there is none. */
export function canaryIn({ status }: Pick<WindowsPool, 'status'>): SecondNodeGroup | undefined {
  return status?.nodeGroup?.canary;
}

/** What status records of the second group. A pool has one: a canary begins only without a replacement, and a replacement without a canary. */
export function secondIn(pool: Pick<WindowsPool, 'status'>): SecondNodeGroup | undefined {
  return replacementIn(pool) ?? canaryIn(pool);
}

/** The record of the second group with a change. */
export function recordOf(pool: Pick<WindowsPool, 'status'>, record: SecondNodeGroup): SecondRecord {
  return canaryIn(pool) ? { canary: record } : { replacement: record };
}

/** The first record of a second group. */
export function newRecord(
  { name, arn, status }: Pick<NodeGroup, 'name'> & Partial<NodeGroup>,
  phase: Phase,
  now: number,
): SecondNodeGroup {
  const time = timeOf(now);
  return { name, ...(arn && { arn }), ...(status && { status }), phase, startTime: time, lastTransitionTime: time };
}

/** The record in this phase. */
export function inPhase(record: SecondNodeGroup, phase: Phase, now: number): SecondNodeGroup {
  return phase === record.phase ? record : { ...record, phase, lastTransitionTime: timeOf(now) };
}

/** The second group of the pool as last observed, if it exists and is the pool's. */
export function secondGroup({ pool, second }: Pick<EksState, 'pool' | 'second'>): NodeGroup | undefined {
  return lastOwnedGroup(pool, second);
}

/** Whether the pool has no record of its groups although the operator has worked on it: the finalizer is added before the first record. */
export function isStatusLost({ metadata, status }: WindowsPool): boolean {
  return status?.nodeGroup === undefined && metadata.finalizers?.includes(FINALIZER) === true;
}

/** Whether the pool has, or may have, a second group that status does not record: the status was lost, or comes from a backup. */
export function isSecondUnrecorded({ pool, second }: Pick<EksState, 'pool' | 'second'>): boolean {
  return !secondIn(pool) && second !== undefined && (isUnknown(second) || secondGroup({ pool, second }) !== undefined);
}

/**
 * Whether the pool has, or may have, groups, and status records none: it was lost. Until a step has recorded them, or two requests have found none, status
 * has no node group at all, so that both are read again.
 */
export function isRecordLost(s: Pick<EksState, 'pool' | 'group' | 'second'>): boolean {
  return s.pool.status?.nodeGroup === undefined && (isSecondUnrecorded(s) || s.group.kind === 'unconfirmed');
}

/** Whether a new group may replace one that EKS cannot change. A replacement that has begun is completed, whatever the spec says since. */
export function canBeReplaced(pool: WindowsPool): boolean {
  return replacementIn(pool) !== undefined || nodeGroupIn(pool.spec).immutableChangePolicy === 'Replace';
}

/**
 * The size that a new group gets because it replaces another one, or is to replace the main one because of these differences; undefined when the spec
 * sets the size, and when it replaces none.
 */
export function sizeToReplace(
  s: Pick<EksState, 'pool' | 'group' | 'second'>,
  differences: readonly string[],
): number | undefined {
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  const old = replacementIn(s.pool) && secondGroup(s);
  const replaced = differences.length > 0 ? ownedGroup(s.pool, s.group) : old;
  if (!replaced || desiredSize !== undefined) return undefined;
  return Math.min(Math.max(replaced.scaling.desiredSize, minSize), maxSize);
}

/** Whether the second group is being drained: the main one serves, and is not deleted any more. */
export function isDraining({ pool }: Pick<EksState, 'pool'>): boolean {
  const record = secondIn(pool);
  return record !== undefined && isDrainPhase(record.phase);
}

/** The group that serves the pool, whose nodes the disruption budget counts. */
export function servingView(s: Pick<EksState, 'pool' | 'group' | 'second'>): EksState['group'] {
  const record = replacementIn(s.pool);
  return s.second && secondGroup(s) && record && factsOf(record).serving === 'second' ? s.second : s.group;
}

/** How many verified nodes the main group must have before a node of the second one may be drained. */
export function neededToDrain(s: EksState): number {
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  // The main group served before the canary, with the nodes that it has.
  if (canaryIn(s.pool)) return Math.min(Math.max(1, minSize), groupOf(s)?.scaling.desiredSize ?? 1);
  const old = secondGroup(s);
  const nodes = old ? s.poolNodes.inGroup(old.name) : undefined;
  // A pool that was scaled to zero needs no proof, which would start a node.
  if (!nodes || (nodes.total === 0 && old?.scaling.desiredSize === 0)) return 0;
  const replaced = isDraining(s) ? 0 : nodes.verified;
  return Math.min(Math.max(1, minSize, replaced), desiredSize ?? maxSize);
}

/** How many nodes of the main group are verified. */
export function verifiedInMain(s: EksState): number {
  const main = ownedGroup(s.pool, s.group);
  return main ? s.poolNodes.inGroup(main.name).verified : 0;
}

/** Whether the main group can take over the pods of the next node of the second one. */
export function canTakeOver(s: EksState): boolean {
  const main = ownedGroup(s.pool, s.group);
  if (!main || (!acceptsUpdates(main) && main.status !== 'UPDATING')) return false;
  return verifiedInMain(s) >= neededToDrain(s);
}

/** The nodes of the second group that are left, sorted by name. */
export function nodesOfSecond(s: EksState) {
  const second = secondGroup(s);
  return second ? s.poolNodes.inGroup(second.name).nodes : [];
}

/** Whether the group loses an instance for good when one of its nodes leaves: nothing starts another one. */
export function canShrink({ scaling, warmPool }: NodeGroup): boolean {
  return scaling.minSize === 0 && !warmPool;
}

/**
 * A Ready node with the label of the second group that the list of its instances lacks. The list may be incomplete, or a kubelet has set the label: until that is
 * clear, the group is not deleted.
 */
export function unlistedNode({ pool, poolNodes }: EksState): NodeRecord | undefined {
  const name = secondNameOf(pool);
  return poolNodes.nonMembers.find(({ ready, labels }) => ready === 'True' && labels[NODE_GROUP_LABEL] === name);
}

/** When the second group is drained again after a drain that failed, in epoch milliseconds; undefined if none failed, or the time has passed. */
export function drainRetriedAt({ pool, now, settings }: EksState): number | undefined {
  const { blocked } = secondIn(pool) ?? {};
  const at = blocked && Date.parse(blocked.time) + settings.createRetryMs;
  return at !== undefined && now < at ? at : undefined;
}

/** Whether nothing but a drain that failed keeps the nodes of the second group, once they are to leave. */
export function mayRetire(s: EksState): boolean {
  const second = secondGroup(s);
  return second !== undefined && canShrink(second) && canTakeOver(s);
}

/** Whether nodes of the second group leave one after the other now. */
export function isRetiring(s: EksState): boolean {
  return isDraining(s) && mayRetire(s) && drainRetriedAt(s) === undefined;
}
