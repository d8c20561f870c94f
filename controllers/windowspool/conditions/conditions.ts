import type { ConditionSet } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import { providerOf } from '../providers/providers.ts';

/** The conditions of a pool, from its observed state after the run. */
export function evaluateConditions(s: Derived): ConditionSet {
  return providerOf(s.pool).conditions(s);
}
