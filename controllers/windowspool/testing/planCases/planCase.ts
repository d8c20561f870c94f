/** A row of a table of cases: the observed state, and the steps that follow, or why there are none. */

import type { Reason } from '../../api/reasons.ts';
import type { ConditionSet } from '../../model/conditions.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';

type KeysOf<T> = T extends unknown ? keyof T : never;

/** Why a rule waits, and when the pool is reconciled again at the latest. */
export interface Wait {
  /** The condition that tells a user what the rule waits for, as `type reason`. */
  readonly because: `${KeysOf<ConditionSet>} ${Reason}`;
  readonly until: Until;
}

/**
 * The time to the next run if no event triggers one, right after the group got its status, such as `20s`. The spread between pools is left out.
 * `backoff`: the failed call is repeated with exponential backoff.
 */
export type Until = `${number}${'ms' | 's' | 'm'}` | 'backoff';

export interface PlanCase {
  readonly name: string;
  readonly observed: EksDerived;
  /** The steps in the words of `stepInWords`, without conditions of nodes. */
  readonly want: readonly string[];
  /** The pending steps of a pool that is not paused. */
  readonly later?: readonly string[];
  /** Conditions of nodes, as `name: status reason`, or `name: nothing`; not compared if absent. */
  readonly nodeConditions?: readonly string[];
  /** For a row without steps: something is due and waits. */
  readonly waits?: Wait;
  /** For a row without steps: nothing is due. */
  readonly rests?: { readonly until: Until };
}
