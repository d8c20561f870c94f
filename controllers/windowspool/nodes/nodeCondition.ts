/** The verification result as conditions of the Node, for `kubectl describe node`, for other tools, and for the operator itself. Pure. */

import type { WindowsPoolSpec } from '../api/api.gen.ts';
import {
  GATE_TAINT_MISSING_CONDITION,
  IMAGES_PENDING_CONDITION,
  OWN_CONDITIONS,
  SMOKE_TEST_PENDING_CONDITION,
  VERIFIED_CONDITION,
} from '../api/labels.ts';
import type { NodeCheck, Reason } from '../api/reasons.ts';
import type { CheckFailure, VerificationResult } from '../model/poolNodesView.ts';
import { foreignMessage } from '../ports/foreignText.ts';
import { type NodeCondition, type NodeRecord, type NodeReport, ownStatus } from '../ports/nodes.ts';
import { count, sentence } from '../util/words.ts';

/** The conditions for a verification result. Equal results give equal conditions, so that they are written only when they change. */
export function reportFor(
  result: VerificationResult,
  { requiredImages = [], smokeTest }: WindowsPoolSpec['verification'],
  pool: string,
): NodeReport {
  const verified = verifiedFor(result, pool);
  const findings = new Set([...result.failures, ...result.warnings].map(({ reason }) => reason));
  /** Only a node that is not verified needs False: the condition of one that is verified would repeat that. */
  const pending = (type: Pending, isRequired: boolean, ...reasons: readonly NodeCheck[]): NodeReport => {
    const isPending = reasons.some((reason) => findings.has(reason));
    if (!isPending && (!isRequired || verified.status === 'True')) return {};
    return { [type]: isPending ? pendingConditions[type] : NOTHING_PENDING };
  };
  return {
    [VERIFIED_CONDITION]: verified,
    ...pending(IMAGES_PENDING_CONDITION, requiredImages.length > 0, 'ImagesMissing', 'ImagePullFailed'),
    ...pending(SMOKE_TEST_PENDING_CONDITION, smokeTest !== undefined, 'SmokeTestPending', 'SmokeTestFailed'),
    ...pending(GATE_TAINT_MISSING_CONDITION, false, 'GateTaintMissing'),
  };
}

type Pending = Exclude<keyof NodeReport, typeof VERIFIED_CONDITION>;

const NOTHING_PENDING: NodeCondition = {
  status: 'False',
  reason: 'NothingPending',
  message: 'The node has passed this once, or was verified before the pool required it.',
};

/** What is `True` on a node while it is pending. */
export const pendingConditions: Readonly<Record<Pending, NodeCondition>> = {
  [IMAGES_PENDING_CONDITION]: {
    status: 'True',
    reason: 'ImagesMissing' satisfies Reason,
    message: 'The node has not had all images of verification.requiredImages.',
  },
  [SMOKE_TEST_PENDING_CONDITION]: {
    status: 'True',
    reason: 'SmokeTestPending' satisfies Reason,
    message: 'The node has not passed verification.smokeTest.',
  },
  [GATE_TAINT_MISSING_CONDITION]: {
    status: 'True',
    reason: 'GateTaintMissing' satisfies Reason,
    message: 'Pods may have been scheduled to the node before it was verified.',
  },
};

/**
 * The condition winpool.dev/Verified. Its message is cut as that of a node is when it is read.
 * - `True`: every enforced check passes; warnings are in the message.
 * - `Unknown`: the node joined recently and is not complete yet.
 * - `False`: a check fails; the reason is that of the first.
 */
function verifiedFor({ state, failures, warnings }: VerificationResult, pool: string): NodeCondition {
  const reported = (findings: readonly CheckFailure[]) => findings.map(({ message }) => message).join('; ');
  const make = (status: NodeCondition['status'], reason: Reason, text: string): NodeCondition => {
    return { status, reason, message: foreignMessage(`WindowsPool ${pool}: ${sentence(text)}`) };
  };
  if (state === 'verified') {
    return make(
      'True',
      'ChecksPassed',
      warnings.length > 0
        ? `passes every enforced check, with ${count(warnings.length, 'warning')}: ${reported(preparationFirst(warnings))}`
        : 'passes every check',
    );
  }
  const found = reported(preparationFirst([...warnings.filter(isAboutPreparation), ...failures]));
  if (state === 'joining') return make('Unknown', 'Joining', `is joining: ${found}`);
  return make('False', failures[0]?.reason ?? 'NodesFailing', found);
}

/** What the node lacks as a new one comes first, and is listed also if it only warns. */
const PREPARATION: readonly NodeCheck[] = [
  'GateTaintMissing',
  'SmokeTestFailed',
  'SmokeTestPending',
  'ImagePullFailed',
  'ImagesMissing',
];

function isAboutPreparation({ reason }: CheckFailure): boolean {
  return PREPARATION.includes(reason);
}

function preparationFirst(findings: readonly CheckFailure[]): readonly CheckFailure[] {
  const first = PREPARATION.flatMap((reason) => findings.filter((finding) => finding.reason === reason));
  return [...first, ...findings.filter((finding) => !first.includes(finding))];
}

/** Whether the node has these conditions, and no others of the operator. */
export function isReported(node: NodeRecord, report: NodeReport): boolean {
  const verified = report[VERIFIED_CONDITION];
  return (
    node.verified?.reason === verified?.reason &&
    node.verified?.message === verified?.message &&
    OWN_CONDITIONS.every((type) => ownStatus(node, type) === report[type]?.status)
  );
}
