/** Which unmet prerequisite is the likely cause of an error of a pool whose group exists. */

import type { CheckReason } from '../../../api/reasons.ts';
import type { Symptom } from '../../../checks/check.ts';
import { count, joined } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { checks } from './checks.ts';

/** ` Likely cause: WindowsIPAMDisabled. See status.checks.`; empty when no known cause explains the symptoms. */
export function likelyCause(s: EksDerived, symptoms: readonly Symptom[]): string {
  const { failed = [], ignored = [] } = s.due.prerequisites.results ?? {};
  const broken = [...failed, ...ignored.filter(({ isUnknown }) => !isUnknown)].filter(({ check }) =>
    isExplained(CHECKS.get(check.reason)?.explains, symptoms),
  );
  const found = [...broken.map(({ check }) => check.reason), ...warningsOf(s, symptoms)];
  return found.length === 0 ? '' : ` Likely cause: ${joined(found)}. See status.checks.`;
}

/** What keeps nodes from being verified. */
const OF_NEW_NODES: readonly Symptom[] = ['NodesMissing', 'NodeCreationFailure', 'NotReady', 'NoPodAddresses'];

/** ` 1 warning about its nodes. See PrerequisitesMet.`, for a node group that is being created; otherwise empty. */
export function riskOfCreation(s: EksDerived): string {
  const found = warningsOf(s, OF_NEW_NODES);
  if (found.length === 0) return '';
  return ` ${count(found.length, 'warning')} about its nodes. See PrerequisitesMet.`;
}

const CHECKS = new Map(checks.map((check) => [check.reason, check]));

/** The warnings that explain one of the symptoms. */
function warningsOf(s: EksDerived, symptoms: readonly Symptom[]): CheckReason[] {
  const { warned = [] } = s.due.prerequisites.results ?? {};
  const explaining = warned.filter(({ check }) => {
    const { explains, explainsAsWarning = explains } = CHECKS.get(check.reason) ?? {};
    return isExplained(explainsAsWarning, symptoms);
  });
  return explaining.map(({ check }) => check.reason);
}

function isExplained(explains: readonly Symptom[] = [], symptoms: readonly Symptom[]): boolean {
  return explains.some((symptom) => symptoms.includes(symptom));
}
