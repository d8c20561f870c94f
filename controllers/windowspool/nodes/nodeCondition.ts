/** The verification result as a condition of the Node, for `kubectl describe node` and for other tools. Pure. */

import type { CheckFailure, VerificationResult } from '../model/poolNodes.ts';
import { foreignMessage } from '../ports/foreignText.ts';
import type { NodeCondition } from '../ports/nodes.ts';
import type { NodeCheck, Reason } from '../reasons.ts';
import { count, sentence } from '../util/words.ts';

/**
 * The condition for a verification result. Equal results give equal conditions, so that it is written only when it changes; its message is cut as
 * that of a node is when it is read.
 * - `True`: every enforced check passes; warnings are in the message.
 * - `Unknown`: the node joined recently and is not complete yet.
 * - `False`: a check fails; the reason is that of the first.
 */
export function conditionFor({ state, failures, warnings }: VerificationResult, pool: string): NodeCondition {
  const reported = (findings: readonly CheckFailure[]) => findings.map(({ message }) => message).join('; ');
  const make = (status: NodeCondition['status'], reason: Reason, text: string): NodeCondition => {
    return { status, reason, message: foreignMessage(`WindowsPool ${pool}: ${sentence(text)}`) };
  };
  if (state === 'verified') {
    return make(
      'True',
      'ChecksPassed',
      warnings.length > 0
        ? `passes every enforced check, with ${count(warnings.length, 'warning')}: ${reported(rememberedFirst(warnings))}`
        : 'passes every check',
    );
  }
  const remembered = warnings.filter(({ reason }) => REMEMBERED.includes(reason));
  const found = reported(rememberedFirst([...remembered, ...failures]));
  if (state === 'joining') return make('Unknown', 'Joining', `is joining: ${found}`);
  return make('False', failures[0]?.reason ?? 'NodesFailing', found);
}

/** The operator reads these from the message later, so they come first, are not cut off, and are listed also if they only warn. */
const REMEMBERED: readonly NodeCheck[] = [
  'GateTaintMissing',
  'SmokeTestFailed',
  'SmokeTestPending',
  'ImagePullFailed',
  'ImagesMissing',
];

function rememberedFirst(findings: readonly CheckFailure[]): readonly CheckFailure[] {
  const first = REMEMBERED.flatMap((reason) => findings.filter((finding) => finding.reason === reason));
  return [...first, ...findings.filter((finding) => !first.includes(finding))];
}

/** Whether two conditions have the same status, reason and message. */
export function isSameCondition(a: NodeCondition | undefined, b: NodeCondition | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;
}
