/** The results of an advice check. */

import type { CallResult } from '../../../ports/callResult.ts';
import type { AdviceResult } from '../model/advice.ts';

/** Nothing to advise. */
export const none: AdviceResult = { kind: 'none' };

/** `message`: what was found, and the remedy, without a full stop. */
export function advise(message: string): AdviceResult {
  return { kind: 'advice', message };
}

/**
 * Looks at one fact. Without the permission to read it, there is no advice, and nothing reports that: advice is not worth a permission. Undefined when
 * the fact was not read, or the call failed for another reason, which usually passes.
 */
export function given<T>(
  fact: CallResult<T> | undefined,
  look: (value: T) => AdviceResult | undefined,
): AdviceResult | undefined {
  if (!fact) return undefined;
  if (fact.ok) return look(fact.value);
  return fact.error.kind === 'denied' ? none : undefined;
}
