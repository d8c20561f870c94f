/** Nodes that others claim. Pure. */

import { falseCondition } from '../conditions/condition.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { clockTime, count, joined } from '../util/words.ts';

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/**
 * The state of a pool whose nodes belong to another one, or are reverted by another controller. `field`: what selects them. `remedy`: how two pools that select
 * the same nodes are told apart, in a sentence.
 */
export function contended(s: ObservedState, field: string, remedy: string): ConditionState | undefined {
  const { contested } = s.membership ?? {};
  if (contested) {
    const { node, holder, more } = contested;
    const others = more > 0 ? ` ${count(more, 'more node')} ${more === 1 ? 'belongs' : 'belong'} to other pools.` : '';
    const message = `Node ${node} matches ${field}, but belongs to WindowsPool ${holder}.${others} ${remedy}`;
    return falseCondition('OwnedByOtherPool', message);
  }
  const { nodes: contended = [], until = 0 } = s.membership?.contention ?? {};
  if (contended.length === 0) return undefined;
  const message = `Another controller keeps reverting labels or taints that the pool sets on ${joined(contended, NODES_IN_MESSAGE)}. The operator sets them again at ${clockTime(until)}. Remove these keys from the pool, or from the other controller.`;
  return falseCondition('NodeChangesReverted', message);
}
