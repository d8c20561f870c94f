/**
 * The replacement of a node group by a second one (`nodeGroup.replacement: BlueGreen`). Pure. The group that the spec describes is the main group,
 * whichever of the two names it has, and the other one is the former group.
 *
 *   spec changed --the names switch--> main group created --enough nodes verified--> former group drained, then deleted
 *        ^                                    |
 *        +------------spec reverted-----------+   the names switch back
 */
import type { FormerNodeGroup, WindowsPool } from '../../../api.gen.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import { nodeGroupIn, scalingIn } from '../../../nodeSource.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { groupOf, ownedGroup } from '../../../queries.ts';
import { acceptsUpdates, immutableDifferences, isOwnedBy } from '../nodeGroup.ts';

/** What status records of the former group; undefined when no replacement is in progress. */
export function formerIn({ status }: Pick<WindowsPool, 'status'>): FormerNodeGroup | undefined {
  return status?.nodeGroup?.former;
}

/** The former group as last observed, if it exists and is the pool's. */
export function formerGroup({ pool, former }: Pick<ObservedState, 'pool' | 'former'>): NodeGroup | undefined {
  const group = former && groupOf({ group: former });
  return group && isOwnedBy(pool, group) ? group : undefined;
}

/** Whether a second group may replace one that EKS cannot change. A replacement that has begun is completed, whatever the spec says since. */
export function canBeReplaced(pool: WindowsPool): boolean {
  return formerIn(pool) !== undefined || nodeGroupIn(pool.spec).replacement === 'BlueGreen';
}

/** The differences for which another group has to replace the main one; empty when the spec refuses that, and while a replacement is in progress. */
export function replacementDue(s: Pick<ObservedState, 'pool' | 'group' | 'former'>): readonly string[] {
  const group = ownedGroup(s.pool, s.group);
  if (!group || formerIn(s.pool) || s.former || nodeGroupIn(s.pool.spec).replacement !== 'BlueGreen') return [];
  return acceptsUpdates(group) ? immutableDifferences(s.pool, group) : [];
}

/** The size that a new group gets because it replaces another one; undefined when the spec sets the size, and when it replaces none. */
export function sizeToReplace(s: Pick<ObservedState, 'pool' | 'group' | 'former'>): number | undefined {
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  const replaced = replacementDue(s).length > 0 ? ownedGroup(s.pool, s.group) : formerGroup(s);
  if (!replaced || desiredSize !== undefined) return undefined;
  return Math.min(Math.max(replaced.scaling.desiredSize, minSize), maxSize);
}

/** Whether the former group is being drained: the main one serves, and is not deleted any more. */
export function isDraining({ pool }: Pick<ObservedState, 'pool'>): boolean {
  return formerIn(pool)?.drainingSince !== undefined;
}

/** The group that serves the pool, whose nodes the disruption budget counts: a former one that has served, until it is drained. */
export function servingView(s: Pick<ObservedState, 'pool' | 'group' | 'former'>): ObservedState['group'] {
  return s.former && formerGroup(s) && formerIn(s.pool)?.served && !isDraining(s) ? s.former : s.group;
}

/** How many verified nodes the main group must have before a node of the former one may be drained. */
export function neededToDrain(s: ObservedState): number {
  const former = formerGroup(s);
  const { minSize, maxSize, desiredSize } = scalingIn(s.pool.spec);
  const nodes = former ? s.poolNodes.inGroup(former.name) : undefined;
  // A pool that was scaled to zero needs no proof, which would start a node.
  if (!nodes || (nodes.total === 0 && former?.scaling.desiredSize === 0)) return 0;
  const served = isDraining(s) ? 0 : nodes.verified;
  return Math.min(Math.max(1, minSize, served), desiredSize ?? maxSize);
}

/** How many nodes of the main group are verified. */
export function verifiedInMain(s: ObservedState): number {
  const main = ownedGroup(s.pool, s.group);
  return main ? s.poolNodes.inGroup(main.name).verified : 0;
}

/** Whether the main group can take over the pods of the next node of the former one. */
export function canTakeOver(s: ObservedState): boolean {
  const main = ownedGroup(s.pool, s.group);
  if (!main || (!acceptsUpdates(main) && main.status !== 'UPDATING')) return false;
  return verifiedInMain(s) >= neededToDrain(s);
}

/** The names of the nodes of the former group that are left, sorted. */
export function nodesOfFormer(s: ObservedState) {
  const former = formerGroup(s);
  return former ? s.poolNodes.inGroup(former.name).nodes : [];
}

/** Whether the group loses an instance for good when one of its nodes leaves: nothing starts another one. */
export function canShrink({ scaling, warmPool }: NodeGroup): boolean {
  return scaling.minSize === 0 && !warmPool;
}

/** Whether nodes of the former group leave one after the other now. After a drain that failed, the next attempt waits for `createRetryMs`. */
export function isRetiring(s: ObservedState): boolean {
  const { blocked } = formerIn(s.pool) ?? {};
  const isHeld = blocked !== undefined && s.now < Date.parse(blocked.time) + s.settings.createRetryMs;
  const former = formerGroup(s);
  return isDraining(s) && !isHeld && former !== undefined && canShrink(former) && canTakeOver(s);
}

/** Whether the node is one of a former group that is being drained. */
export function isOfFormer(s: ObservedState, node: Parameters<ObservedState['poolNodes']['groupOf']>[0]): boolean {
  return isDraining(s) && formerGroup(s)?.name === s.poolNodes.groupOf(node);
}
