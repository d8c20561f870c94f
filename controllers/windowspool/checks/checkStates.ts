/** status.checks: the checks that need attention. Pure. */
import type { CheckState } from '../api/api.gen.ts';
import { foreignText } from '../ports/foreignText.ts';
import { describeResult } from './describeChecks.ts';
import type { CheckResult, CheckResults } from './runChecks.ts';

/** The maximum length of a message in the schema. */
const MESSAGE_LENGTH = 4_096;

/**
 * The entries of status.checks: what blocks the pool, warnings, ignored prerequisites, what could not be checked, then advice. A check that is met has none,
 * and neither has ignored advice. An entry of advice stays while its facts are not read.
 */
export function checkStates(results: CheckResults, earlier: readonly CheckState[]): CheckState[] {
  const { all, failed, warned, ignored, unknown } = results;
  const advice = all.filter(({ check }) => check.severity === 'Advice');
  return [
    ...[...failed, ...warned, ...ignored, ...unknown].map(stateOf),
    ...advice.flatMap((result) => {
      if (result.status === 'NotMet') return stateOf(result);
      return result.status === 'Unread' ? earlier.filter(({ reason }) => reason === result.check.reason) : [];
    }),
  ];
}

function stateOf(result: CheckResult): CheckState {
  const { check, severity, status } = result;
  return {
    name: check.section,
    severity,
    status: status as CheckState['status'],
    reason: check.reason,
    message: foreignText(describeResult(result), MESSAGE_LENGTH),
  };
}
