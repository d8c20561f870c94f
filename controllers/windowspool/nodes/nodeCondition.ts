/** The verification result as a condition of the Node, for `kubectl describe node` and for other tools. Pure. */

import type { CheckFailure, VerificationResult } from '../model/poolNodes.ts';
import { foreignMessage } from '../ports/foreignText.ts';
import type { NodeCondition } from '../ports/nodes.ts';
import type { Reason } from '../reasons.ts';
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
        ? `passes every enforced check, with ${count(warnings.length, 'warning')}: ${reported(warnings)}`
        : 'passes every check',
    );
  }
  // The operator reads from the message that a node joined without the gate taint or lacks images, so that comes first and is not cut off.
  const ungated = warnings.filter(({ reason }) => reason === 'GateTaintMissing');
  const lacking = failures.filter(({ reason }) => reason === 'ImagesMissing');
  const found = reported([...ungated, ...lacking, ...failures.filter((failure) => !lacking.includes(failure))]);
  if (state === 'joining') return make('Unknown', 'Joining', `is joining: ${found}`);
  return make('False', failures[0]?.reason ?? 'NodesFailing', found);
}

/** Whether two conditions have the same status, reason and message. */
export function isSameCondition(a: NodeCondition | undefined, b: NodeCondition | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;
}
