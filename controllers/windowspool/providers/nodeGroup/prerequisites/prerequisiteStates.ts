/** status.prerequisites: the prerequisites that need attention. Pure. */
import type { PrerequisiteState } from '../../../api/api.gen.ts';
import { cut, sentence } from '../../../util/words.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { isUnknown as isGroupUnknown } from '../observation/knownGroups.ts';
import { wordsOf } from './remarks.ts';

/** The maximum length of a message in the schema. */
const MESSAGE_LENGTH = 4_096;

interface Unmet {
  readonly check: PrerequisiteCheck;
  readonly result: Exclude<PrerequisiteResult, { kind: 'met' }>;
}

/**
 * The entries of status.prerequisites, in the order of the checks; a prerequisite that is met has none. If nothing could be checked in this run, the
 * previous entries stay.
 */
export function prerequisiteStates(s: EksDerived): PrerequisiteState[] {
  const checked = s.due.prerequisites.examination;
  if (!checked) return isUnknown(s) ? (s.pool.status?.prerequisites ?? []) : [];
  const { failed, warned, ignored, unknown } = checked;
  const listed: readonly (readonly [PrerequisiteState['status'], readonly Unmet[]])[] = [
    ['NotMet', failed],
    ['Warning', warned],
    ['Ignored', ignored],
    ['Unknown', unknown],
  ];
  return listed.flatMap(([status, found]) => found.map((each) => stateOf(each, status)));
}

/** Whether the checks could not run in this run, so that earlier results stay. */
export function isUnknown(s: EksDerived): boolean {
  return isGroupUnknown(s.group) || s.cluster.kind === 'unreachable' || s.due.prerequisites.scope !== 'nothing';
}

function stateOf({ check, result }: Unmet, status: PrerequisiteState['status']): PrerequisiteState {
  return { name: check.section, status, reason: check.reason, message: cut(sentence(wordsOf(result)), MESSAGE_LENGTH) };
}
