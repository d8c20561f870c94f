/** The verdict as a condition of the Node, for `kubectl describe node` and for other tools. Pure. */

import type { CheckFailure, VerificationResult } from '../model/poolNodes.ts';
import type { NodeCondition } from '../ports/nodes.ts';
import type { Reason } from '../reasons.ts';
import { sentence } from '../util/words.ts';

/** Fits into what the API server and describe take easily; a message is a line to read. */
const MESSAGE_LENGTH = 1_024;

/**
 * What the pool's checks found. It says the same as long as they find the same, so that it is written only when that changes.
 * - `True`: every enforced check passes; warnings are in the message.
 * - `Unknown`: the node joined a short while ago and is not complete yet.
 * - `False`: a check fails; the reason is the first one's.
 */
export function conditionFor({ state, failures, warnings }: VerificationResult, pool: string): NodeCondition {
  const reported = (findings: readonly CheckFailure[]) => findings.map(({ message }) => message).join('; ');
  const say = (status: NodeCondition['status'], reason: Reason, text: string): NodeCondition => {
    const message = `WindowsPool ${pool}: ${sentence(text)}`;
    return {
      status,
      reason,
      message: message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH - 1)}…` : message,
    };
  };
  if (state === 'verified') {
    return say(
      'True',
      'ChecksPassed',
      warnings.length > 0 ? `passes, with a warning: ${reported(warnings)}` : 'passes every check',
    );
  }
  // How it came stays true whatever else is found.
  const ungated = warnings.filter(({ reason }) => reason === 'ArrivedUngated');
  const found = reported([...ungated, ...failures]);
  if (state === 'joining') return say('Unknown', 'Joining', `is not complete yet: ${found}`);
  return say('False', failures[0]?.reason ?? 'NodesFailing', found);
}

/** Whether two conditions say the same. */
export function isSameCondition(a: NodeCondition | undefined, b: NodeCondition | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;
}
