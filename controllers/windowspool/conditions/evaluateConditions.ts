import type { ConditionSet } from '../model/conditions.ts';
import type { RunResult } from '../model/outcome.ts';
import { providerOf } from '../providers/providers.ts';

/** The conditions of a pool after a run. */
export function evaluateConditions(result: RunResult): ConditionSet {
  return providerOf(result.after.pool).conditions(result);
}
