/**
 * What to say of a pool: its conditions, from what is true after the steps were taken. Pure.
 *
 *   NodeGroupReady  RuntimeClassReady  NodesVerified  PrerequisitesMet  UpToDate   each looks at its own part
 *   Ready                                                                          the summary of them
 *   NodesLeaving  Reconciling  Stalled  Paused                                     there only while true (kstatus)
 */

import { groupOf, isDeleting, neededNodes } from '../facts.ts';
import type { ConditionSet, ConditionState, NodeGroupConditions } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { hasNodeGroup } from '../poolKind.ts';
import { isOwnedBy } from '../providers/eks/nodeGroup.ts';
import { count } from '../words.ts';
import { nodeGroupReady } from './nodeGroupReady.ts';
import { existingNodesConditions } from './nodesFound.ts';
import { nodesLeaving } from './nodesLeaving.ts';
import { nodesVerified } from './nodesVerified.ts';
import { prerequisitesMet } from './prerequisitesMet.ts';
import { runtimeClassReady } from './runtimeClassReady.ts';
import { conclude } from './summary.ts';
import { upToDate } from './upToDate.ts';

export function evaluateConditions(s: ObservedState): ConditionSet {
  return hasNodeGroup(s.pool) ? nodeGroupConditions(s) : existingNodesConditions(s);
}

/** The conditions of a pool with a node group. */
export function nodeGroupConditions(s: ObservedState): NodeGroupConditions {
  const terminating = nodesLeaving(s);
  const parts = {
    PrerequisitesMet: prerequisitesMet(s),
    NodeGroupReady: nodeGroupReady(s),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s),
    UpToDate: upToDate(s),
    ...(terminating && { NodesLeaving: terminating }),
  };
  const findings = Object.values(parts);
  // A pool that goes waits for its group alone; only another cluster than its own stops it for good.
  const stalled = (isDeleting(s.pool) ? [parts.PrerequisitesMet] : findings).find((finding) => finding.stalled);
  const ready = summarize(s, parts, stalled);
  return conclude(s, ready, parts, stalled);
}

type Parts = Omit<NodeGroupConditions, 'Ready' | 'Reconciling' | 'Stalled' | 'Paused'>;

/** Ready is about what pods need: a RuntimeClass and enough verified nodes. What EKS does meanwhile does not turn it. */
function summarize(s: ObservedState, parts: Parts, stalled: ConditionState | undefined): ConditionState {
  if (stalled) return { ...stalled, status: 'False' };
  if (isDeleting(s.pool)) return { ...parts.NodeGroupReady, status: 'False' };
  const { status, desired } = knownGroup(s);
  if (!['ACTIVE', 'UPDATING', 'DEGRADED'].includes(status)) {
    // What could not be checked keeps nothing back, so it is not the cause.
    const { status: met, working } = parts.PrerequisitesMet;
    const cause = met === 'False' || working ? parts.PrerequisitesMet : parts.NodeGroupReady;
    return { ...cause, status: 'False' };
  }
  if (parts.RuntimeClassReady.status !== 'True') return { ...parts.RuntimeClassReady, status: 'False' };
  const { verified, total } = s.poolNodes;
  if (desired === 0) {
    const left = total > 0 ? ` ${count(total, 'node')} left.` : '';
    return { status: 'True', reason: 'NoNodes', message: `The pool wants no nodes.${left}` };
  }
  const needed = neededNodes(s.pool);
  if (verified < needed && !isRolling(s, parts)) {
    const text = `${count(verified, 'node')} of the ${needed} that the pool must have ${verified === 1 ? 'is' : 'are'} verified. `;
    return { ...parts.NodesVerified, status: 'False', message: text + parts.NodesVerified.message };
  }
  return { status: 'True', reason: 'Verified', message: `${verified} of ${count(total, 'node')} verified.` };
}

/**
 * Whether a pool that was Ready only waits, within the join grace, for the nodes that an update of its group replaces. One verified node is
 * the least.
 */
function isRolling(s: ObservedState, { NodesVerified }: Parts): boolean {
  const wasReady = s.pool.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return (
    wasReady && knownGroup(s).status === 'UPDATING' && NodesVerified.status !== 'False' && s.poolNodes.verified > 0
  );
}

/** What is known of the pool's own group: seen, or remembered in status where AWS could not be asked since the operator started. */
function knownGroup(s: ObservedState): { readonly status: string; readonly desired: number | undefined } {
  const group = groupOf(s);
  if (group && isOwnedBy(s.pool, group)) return { status: group.status, desired: group.scaling.desired };
  if (group) return { status: '', desired: undefined };
  const memory = s.group.kind === 'unreachable' ? s.pool.status : undefined;
  return { status: memory?.nodeGroup?.status ?? '', desired: memory?.nodes?.desired };
}
