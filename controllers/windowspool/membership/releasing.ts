/** The state of a pool that is being deleted and releases its nodes. Pure. */

import { falseCondition } from '../conditions/condition.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { isPaused } from '../rules/poolQueries.ts';
import { joined } from '../util/words.ts';

/** How many nodes the message names. */
const NODES_IN_MESSAGE = 3;

/** What is done with the nodes, and which of them are left. */
export function releasing(s: ObservedState): ConditionState {
  const toRelease = s.membership?.toRelease ?? [];
  const names = joined(
    toRelease.map(({ name }) => name),
    NODES_IN_MESSAGE,
  );
  const what =
    s.pool.spec.deletionPolicy === 'Retain'
      ? "The operator's own taints, conditions and annotations are removed from the nodes."
      : 'The labels and taints of the nodes are restored.';
  const wait = isPaused(s.pool) ? ' This waits until the pool is resumed.' : '';
  const message = `${what}${toRelease.length > 0 ? ` Remaining: ${names}.` : ''}${wait}`;
  return falseCondition('Releasing', message, 'working');
}
