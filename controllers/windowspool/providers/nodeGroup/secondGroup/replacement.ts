/**
 * The replacement of a node group by a second one (`nodeGroup.immutableChangePolicy: Replace`). Pure. The group that the spec describes is the main group,
 * whichever of the two names it has, and the other one is the former group.
 *
 *   spec changed --the names switch--> main group created --enough nodes verified--> former group drained, then deleted
 *        ^                                    |
 *        +------------spec reverted-----------+   the names switch back
 */
import type { CanaryNodeGroup, FormerNodeGroup, WindowsPool } from '../../../api/api.gen.ts';
import { FINALIZER } from '../../../api/labels.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn, scalingIn } from '../../../rules/nodeSource.ts';
import { acceptsUpdates, isOwnedBy } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, isUnknown, ownedGroup } from '../observation/knownGroups.ts';

/** What status records of the former group; undefined when no replacement is in progress. */
export function formerIn({ status }: Pick<WindowsPool, 'status'>): FormerNodeGroup | undefined {
  return status?.nodeGroup?.former;
}

/** What status records of the canary; undefined when there is none. */
export function canaryIn({ status }: Pick<WindowsPool, 'status'>): CanaryNodeGroup | undefined {
  return status?.nodeGroup?.canary;
}

/** What status records of the other group of the pool, a former one or a canary: a pool never has both. */
export function otherGroupIn(pool: Pick<WindowsPool, 'status'>): FormerNodeGroup | CanaryNodeGroup | undefined {
  return formerIn(pool) ?? canaryIn(pool);
}

/** The other group of the pool, a former one or a canary, as last observed, if it exists and is the pool's. */
export function otherGroup({ pool, former }: Pick<EksState, 'pool' | 'former'>): NodeGroup | undefined {
  const group = former && groupOf({ group: former });
  return group && isOwnedBy(pool, group) ? group : undefined;
}

/** Whether the pool has no record of its groups although the operator has worked on it: the finalizer is added before the first record. */
export function isStatusLost({ metadata, status }: WindowsPool): boolean {
  return status?.nodeGroup === undefined && metadata.finalizers?.includes(FINALIZER) === true;
}

/**
 * Whether the pool has, or may have, groups that status does not record: the status was lost. Until a step has recorded them, or two requests have found
 * none, status has no node group at all, so that both are read again.
 */
export function isRecordLost({ pool, group, former }: Pick<EksState, 'pool' | 'group' | 'former'>): boolean {
  if (pool.status?.nodeGroup !== undefined) return false;
  const mayHaveOther = former !== undefined && (isUnknown(former) || otherGroup({ pool, former }) !== undefined);
  return mayHaveOther || group.kind === 'unconfirmed';
}

/** Whether a second group may replace one that EKS cannot change. A replacement that has begun is completed, whatever the spec says since. */
export function canBeReplaced(pool: WindowsPool): boolean {
  return formerIn(pool) !== undefined || nodeGroupIn(pool.spec).immutableChangePolicy === 'Replace';
}

/**
 * The size that a new group gets because it replaces another one, or is to replace the main one because of these differences; undefined when the spec
 * sets the size, and when it replaces none.
 */
export function sizeToReplace(
  s: Pick<EksState, 'pool' | 'group' | 'former'>,
  differences: readonly string[],
): number | undefined {
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  const former = formerIn(s.pool) && otherGroup(s);
  const replaced = differences.length > 0 ? ownedGroup(s.pool, s.group) : former;
  if (!replaced || desiredSize !== undefined) return undefined;
  return Math.min(Math.max(replaced.scaling.desiredSize, minSize), maxSize);
}

/** Whether the other group is being drained: the main one serves, and is not deleted any more. */
export function isDraining({ pool }: Pick<EksState, 'pool'>): boolean {
  return otherGroupIn(pool)?.drainingSince !== undefined;
}

/** The group that serves the pool, whose nodes the disruption budget counts: a former one that has served, until it is drained. */
export function servingView(s: Pick<EksState, 'pool' | 'group' | 'former'>): EksState['group'] {
  return s.former && otherGroup(s) && formerIn(s.pool)?.served && !isDraining(s) ? s.former : s.group;
}

/** How many verified nodes the main group must have before a node of the other one may be drained. */
export function neededToDrain(s: EksState): number {
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  // The main group served before the canary, with the nodes that it has.
  if (canaryIn(s.pool)) return Math.min(Math.max(1, minSize), groupOf(s)?.scaling.desiredSize ?? 1);
  const former = otherGroup(s);
  const nodes = former ? s.poolNodes.inGroup(former.name) : undefined;
  // A pool that was scaled to zero needs no proof, which would start a node.
  if (!nodes || (nodes.total === 0 && former?.scaling.desiredSize === 0)) return 0;
  const served = isDraining(s) ? 0 : nodes.verified;
  return Math.min(Math.max(1, minSize, served), desiredSize ?? maxSize);
}

/** How many nodes of the main group are verified. */
export function verifiedInMain(s: EksState): number {
  const main = ownedGroup(s.pool, s.group);
  return main ? s.poolNodes.inGroup(main.name).verified : 0;
}

/** Whether the main group can take over the pods of the next node of the other one. */
export function canTakeOver(s: EksState): boolean {
  const main = ownedGroup(s.pool, s.group);
  if (!main || (!acceptsUpdates(main) && main.status !== 'UPDATING')) return false;
  return verifiedInMain(s) >= neededToDrain(s);
}

/** The nodes of the other group that are left, sorted by name. */
export function nodesOfOther(s: EksState) {
  const former = otherGroup(s);
  return former ? s.poolNodes.inGroup(former.name).nodes : [];
}

/** Whether the group loses an instance for good when one of its nodes leaves: nothing starts another one. */
export function canShrink({ scaling, warmPool }: NodeGroup): boolean {
  return scaling.minSize === 0 && !warmPool;
}

/** When the other group is drained again after a drain that failed, in epoch milliseconds; undefined if none failed, or the time has passed. */
export function drainRetriedAt({ pool, now, settings }: EksState): number | undefined {
  const { blocked } = otherGroupIn(pool) ?? {};
  const at = blocked && Date.parse(blocked.time) + settings.createRetryMs;
  return at !== undefined && now < at ? at : undefined;
}

/** Whether nothing but a drain that failed keeps the nodes of the other group, once they are to leave. */
export function mayRetire(s: EksState): boolean {
  const former = otherGroup(s);
  return former !== undefined && canShrink(former) && canTakeOver(s);
}

/** Whether nodes of the other group leave one after the other now. */
export function isRetiring(s: EksState): boolean {
  return isDraining(s) && mayRetire(s) && drainRetriedAt(s) === undefined;
}
