/** How many nodes of a pool may be unavailable at a time, and which are. Pure. */
import type { LeavingNode, WindowsPool } from '../api/api.gen.ts';
import type { ServingCapacity } from '../model/capacity.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { isUnavailable } from './nodeAnnotations.ts';
import { amountOf } from './remediation.ts';
import { terminatingNodes } from './reservation.ts';
import { isNodeless } from './terminatingNode.ts';

/** The schema accepts at most this many nodes in status.disruption. */
const MAX_TERMINATING = 100;

/** `disruption.maxUnavailable`, or else that of the node group, as a number of nodes: at least one. */
export function maxUnavailableOf({ spec }: WindowsPool, nodes: number, ofGroup = '1'): number {
  const limit = String(spec.disruption?.maxUnavailable ?? ofGroup);
  return Math.min(MAX_TERMINATING, Math.max(1, amountOf(limit, nodes)));
}

/** Which nodes are unavailable, how many are missing, and how many may be unavailable at a time. Uses the uncached count if there is one. */
export function absencesIn({ pool, counted, poolNodes }: ObservedState, serving: ServingCapacity | undefined) {
  const { total, unavailable } = counted?.ok ? counted.value : (serving ?? poolNodes);
  const desiredNodes = serving?.desired ?? total;
  return {
    unavailable: serving?.leaving ? [...unavailable, ...serving.leaving] : unavailable,
    missing: Math.max(0, desiredNodes - total),
    limit: maxUnavailableOf(pool, desiredNodes, serving?.maxUnavailable),
  };
}

/**
 * Whether a node whose turn has come and that was not changed yet is still within the budget. After a restart of the operator or an EKS update in
 * between, other nodes may be unavailable: then the node waits for another turn.
 */
export function isStillInBudget(
  { uid }: LeavingNode,
  now: NodeRecord,
  s: ObservedState,
  serving: ServingCapacity | undefined,
): boolean {
  const { unavailable, missing, limit } = absencesIn(s, serving);
  const others = terminatingNodes(s.pool).filter((entry) => entry.uid !== uid && !isNodeless(entry));
  if (isUnavailable(now)) return others.length < limit;
  return new Set([...unavailable, ...others.map(({ name }) => name)]).size + missing < limit;
}
