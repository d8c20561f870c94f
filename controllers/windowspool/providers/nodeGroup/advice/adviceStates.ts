/** status.advice. Pure. */
import type { AdviceState } from '../../../api/api.gen.ts';
import { adviceReasons } from '../../../api/reasons.ts';
import { cut, sentence } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { isUnknown } from '../prerequisites/prerequisiteStates.ts';
import { checks } from './adviceChecks.ts';

/** The maximum length of a message in the schema. */
const MESSAGE_LENGTH = 4_096;

/**
 * The entries of status.advice. An entry stays while its facts are not read: they are read with all prerequisites, and once an hour for the advice
 * that the pool has.
 */
export function adviceStates(s: EksDerived): AdviceState[] {
  const known: readonly string[] = adviceReasons;
  const earlier = (s.pool.status?.advice ?? []).filter(({ reason }) => known.includes(reason));
  const { input } = s.due.prerequisites;
  if (!input) return isUnknown(s) ? earlier : [];
  return checks.flatMap(({ reason, section, look }) => {
    if (input.ignored.has(reason)) return [];
    const result = look(input);
    if (!result) return earlier.filter((entry) => entry.reason === reason);
    if (result.kind === 'none') return [];
    return [{ name: section, reason, message: cut(sentence(result.message), MESSAGE_LENGTH) }];
  });
}
