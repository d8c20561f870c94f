/** Which unmet prerequisite is the likely cause of an error of a pool whose group exists. */

import type { Symptom } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { checks } from './checks.ts';

/** ` Likely cause: WindowsIPAMDisabled. See status.checks.`; empty when no known cause explains the symptoms. */
export function likelyCause(s: EksDerived, symptoms: readonly Symptom[]): string {
  const { failed = [], ignored = [], warned = [] } = s.due.prerequisites.results ?? {};
  const unmet = [...failed, ...ignored.filter(({ isUnknown }) => !isUnknown), ...warned];
  const explained = checks.filter(({ explains = [] }) => explains.some((symptom) => symptoms.includes(symptom)));
  const reasons = new Set<string>(explained.map(({ reason }) => reason));
  const found = unmet.map(({ check }) => check.reason).filter((reason) => reasons.has(reason));
  return found.length === 0 ? '' : ` Likely cause: ${joined(found)}. See status.checks.`;
}
