/** The condition Ready: the summary of the others, the same for pools of all providers. */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isDeleting, neededNodes } from '../rules/poolQueries.ts';
import { count } from '../util/words.ts';
import { falseCondition, trueCondition } from './condition.ts';

/** The conditions that every pool has in addition to those of its provider. */
export type Parts = Readonly<Record<'PrerequisitesMet' | 'RuntimeClassReady' | 'NodesVerified', ConditionState>>;

/** The condition of a pool whose desired size is zero. */
export function sizeIsZero({ poolNodes: { total } }: ObservedState): ConditionState {
  const left = total > 0 ? ` ${count(total, 'node')} left.` : '';
  return trueCondition('NoNodes', `The desired size is 0.${left}`);
}

/** What Ready depends on for a provider. */
export interface Readiness<P extends Parts> {
  /** The condition about the source of the pool's nodes, which a pool that is being deleted waits for. */
  readonly source: keyof P;
  /** The conditions that can stall a pool that is being deleted. */
  readonly stallsDeletion: readonly (keyof P)[];
  /** Whether the nodes may be those of another cluster. */
  isForeign?(s: ObservedState): boolean;
  /** Whether what the nodes come from is being created, changed or deleted: a paused pool is Reconciling then, too. */
  isBusy?(s: ObservedState): boolean;
  /** Why no node can run a pod, whatever the number of nodes. */
  unavailable?(s: ObservedState, parts: P): ConditionState | undefined;
  /** The condition of a pool that needs no verified node now; undefined: it needs one. */
  empty?(s: ObservedState, parts: P): ConditionState | undefined;
  /** Whether missing nodes are only being replaced: the pool stays Ready meanwhile. */
  isRolling?(s: ObservedState, parts: P): boolean;
}

/**
 * Ready is about capacity: a RuntimeClass that pods can use, and enough verified nodes. It does not depend on operations of EKS, nor on whether the pool
 * is stalled.
 */
export function ready<P extends Parts>(
  s: ObservedState,
  parts: P,
  stalled: ConditionState | undefined,
  { source, isForeign, unavailable, empty, isRolling }: Readiness<P>,
): ConditionState {
  const { verified, awaitingRule, total } = s.poolNodes;
  const found = parts[source] as ConditionState;
  const cause = isDeleting(s.pool)
    ? (stalled ?? found)
    : isForeign?.(s)
      ? stalled
      : parts.RuntimeClassReady.status === 'True'
        ? undefined
        : parts.RuntimeClassReady;
  if (cause) return { ...cause, status: 'False' };
  const none = empty?.(s, parts);
  if (none) return none;
  const needed = neededNodes(s.pool);
  if (verified - awaitingRule >= needed || isRolling?.(s, parts)) {
    const also = stalled ? ` ${stalled.message}` : '';
    return trueCondition('EnoughNodesVerified', `${verified} of ${count(total, 'node')} verified.${also}`);
  }
  if (verified >= needed) {
    const usable = verified - awaitingRule;
    const text = `${usable} of ${count(needed, 'required node')} accepting pods. `;
    return falseCondition('AwaitingReadinessRule', text + parts.NodesVerified.message);
  }
  const blocked = stalled ?? unavailable?.(s, parts);
  if (blocked) return { ...blocked, status: 'False' };
  if (!nodeSourceOf(s.pool).hasSize) return { ...(total === 0 ? found : parts.NodesVerified), status: 'False' };
  const text = `${verified} of ${count(needed, 'required node')} verified. `;
  return { ...parts.NodesVerified, status: 'False', message: text + parts.NodesVerified.message };
}
