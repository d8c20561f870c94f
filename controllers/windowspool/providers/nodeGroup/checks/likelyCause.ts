/** Which unmet prerequisite is the likely cause of an error of a pool whose group exists. */

import type { Symptom } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { checks } from './checks.ts';

/** ` Likely cause: WindowsIPAMDisabled. See status.checks.`; empty when no known cause explains the symptoms. */
export function likelyCause(s: EksDerived, symptoms: readonly Symptom[]): string {
  const { failed = [], ignored = [], warned = [] } = s.due.prerequisites.results ?? {};
  const isExplained = (explains: readonly Symptom[] = []) => explains.some((symptom) => symptoms.includes(symptom));
  const byReason = new Map(checks.map((check) => [check.reason, check]));
  const broken = [...failed, ...ignored.filter(({ isUnknown }) => !isUnknown)].filter(({ check }) =>
    isExplained(byReason.get(check.reason)?.explains),
  );
  const possible = warned.filter(({ check }) => {
    const { explains, explainsAsWarning = explains } = byReason.get(check.reason) ?? {};
    return isExplained(explainsAsWarning);
  });
  const found = [...broken, ...possible].map(({ check }) => check.reason);
  return found.length === 0 ? '' : ` Likely cause: ${joined(found)}. See status.checks.`;
}
