/** How many nodes of a pool may be unavailable at a time, and which are. Pure. */
import type { LeavingNode, WindowsPool } from '../api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { acceptsUpdates } from '../providers/eks/nodeGroup.ts';
import { otherGroupIn, servingView } from '../providers/eks/replacement/replacement.ts';
import { isClusterMismatch, ownedGroup } from '../queries.ts';
import { isUnavailable } from './nodeAnnotations.ts';
import { amountOf } from './remediation.ts';
import { terminatingNodes } from './reservation.ts';
import { isNodeless } from './terminatingNode.ts';

/** The group that serves the pool, as observed, if EKS is not updating it: only then nodes may be terminated. */
export function idleGroup(s: ObservedState): NodeGroup | undefined {
  const serving = servingView(s);
  return idleGroups(s).find((group) => serving.kind === 'seen' && serving.group.name === group.name);
}

/** The pool's own groups, as observed, that EKS is not updating. */
export function idleGroups(s: ObservedState): NodeGroup[] {
  const { pool } = s;
  if (isClusterMismatch(s)) return [];
  const update = s.update?.status ?? pool.status?.nodeGroup?.update?.status;
  const views = [...(update === 'InProgress' ? [] : [s.group]), ...(s.former ? [s.former] : [])];
  return views.flatMap((view) => ownedGroup(pool, view) ?? []).filter(acceptsUpdates);
}

/** Whether EKS is not updating the group of the node. */
export function isInIdleGroup(s: ObservedState, node: NodeRecord): boolean {
  const groups = idleGroups(s);
  return s.former ? groups.some(({ name }) => name === s.poolNodes.groupOf(node)) : groups.length > 0;
}

/** The schema accepts at most this many nodes in status.disruption. */
const MAX_TERMINATING = 100;

/** `disruption.maxUnavailable`, or else that of the group, as a number of nodes: at least one. */
export function maxUnavailableOf({ spec }: WindowsPool, nodes: number, group?: NodeGroup): number {
  const limit = String(spec.disruption?.maxUnavailable ?? group?.update.maxUnavailable ?? 1);
  return Math.min(MAX_TERMINATING, Math.max(1, amountOf(limit, nodes)));
}

/** Which nodes are unavailable, how many are missing, and how many may be unavailable at a time. Uses the uncached count if there is one. */
export function absencesIn({ pool, counted, poolNodes }: ObservedState, group: NodeGroup | undefined) {
  const known = group && otherGroupIn(pool) ? poolNodes.inGroup(group.name) : poolNodes;
  const { total, unavailable } = counted?.ok ? counted.value : known;
  // A pool of existing nodes has no desired size.
  const desiredNodes = group?.scaling.desiredSize ?? total;
  return {
    unavailable,
    missing: Math.max(0, desiredNodes - total),
    limit: maxUnavailableOf(pool, desiredNodes, group),
  };
}

/**
 * Whether a node whose turn has come and that was not changed yet is still within the budget. After a restart of the operator or an EKS update in
 * between, other nodes may be unavailable: then the node waits for another turn.
 */
export function isStillInBudget({ uid }: LeavingNode, now: NodeRecord, s: ObservedState, group?: NodeGroup): boolean {
  const { unavailable, missing, limit } = absencesIn(s, group);
  const others = terminatingNodes(s.pool).filter((entry) => entry.uid !== uid && !isNodeless(entry));
  if (isUnavailable(now)) return others.length < limit;
  return new Set([...unavailable, ...others.map(({ name }) => name)]).size + missing < limit;
}
