/** Steps that failed with an error that passes, in words: what the log says of them, a condition says, too. Pure. */

import type { ConditionState } from '../model/conditions.ts';
import type { StepError } from '../model/stepError.ts';
import { TRANSIENT } from '../rules/retryIntervals.ts';
import { isStep } from '../steps/stepKinds.ts';
import { describeFailure } from '../util/words.ts';

/** The first of these errors that is one, in words, unless a condition names it. A conflict is expected: another client wrote first. */
export function describeRetried(
  errors: readonly StepError[],
  conditions: readonly (ConditionState | undefined)[],
): string | undefined {
  const retried = errors.find(
    ({ step, error }) =>
      isStep(step) &&
      error.kind !== 'conflict' &&
      TRANSIENT.includes(error.kind) &&
      !conditions.some((condition) => condition?.message.includes(error.message)),
  );
  return retried && `${describeFailure(retried.error)} The operator retries.`;
}
