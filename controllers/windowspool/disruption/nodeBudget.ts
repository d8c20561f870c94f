/** How many nodes of a pool may be out at a time, and which are. Pure. */
import type { LeavingNode, WindowsPool } from '../api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { isOwnedBy } from '../providers/eks/nodeGroup.ts';
import { isClusterMismatch } from '../queries.ts';
import { isUnavailable } from './nodeAnnotations.ts';
import { amountOf } from './remediation.ts';
import { terminatingNodes } from './reservation.ts';
import { isNodeless } from './terminatingNode.ts';

/** The group whose nodes may go: the pool's own, as it was seen, while EKS does not work on it. */
export function restingGroup(s: ObservedState): NodeGroup | undefined {
  const { pool, group } = s;
  if (isClusterMismatch(s) || group.kind !== 'seen' || !isOwnedBy(pool, group.group)) return undefined;
  const update = s.update?.status ?? pool.status?.nodeGroup?.update?.status;
  const rests = ['ACTIVE', 'DEGRADED'].includes(group.group.status) && update !== 'InProgress';
  return rests ? group.group : undefined;
}

/** The schema takes no more nodes in status.disruption. */
const MOST_LEAVING = 100;

/** `disruption.maxUnavailable`, or what the group has, as a number of nodes: at least one. */
function mostUnavailable({ spec }: WindowsPool, nodes: number, group: NodeGroup | undefined): number {
  const limit = String(spec.disruption?.maxUnavailable ?? group?.update.maxUnavailable ?? 1);
  return Math.min(MOST_LEAVING, Math.max(1, amountOf(limit, nodes)));
}

/** Which nodes take no pods, how many are missing, and how many may be out at a time. As counted past every cache, where that was done. */
export function absencesIn({ pool, counted, poolNodes }: ObservedState, group: NodeGroup | undefined) {
  const { total, unavailable } = counted?.ok ? counted.value : poolNodes;
  // Nobody tells how many nodes a pool of existing ones shall have.
  const wanted = group?.scaling.desired ?? total;
  return { unavailable, missing: Math.max(0, wanted - total), limit: mostUnavailable(pool, wanted, group) };
}

/**
 * Whether a node that got its turn and was not touched yet may still go. Between the two the operator may have ended, or EKS worked on the
 * group, and other nodes are out since: then the turn is given back.
 */
export function isStillInBudget({ uid }: LeavingNode, now: NodeRecord, s: ObservedState, group?: NodeGroup): boolean {
  const { unavailable, missing, limit } = absencesIn(s, group);
  const others = terminatingNodes(s.pool).filter((entry) => entry.uid !== uid && !isNodeless(entry));
  if (isUnavailable(now)) return others.length < limit;
  return new Set([...unavailable, ...others.map(({ name }) => name)]).size + missing < limit;
}
