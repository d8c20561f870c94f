/** Runs checks. Pure. */
import type { CheckReason } from '../api/reasons.ts';
import { type Answer, type Check, type CheckName, met, type Prerequisite, type Severity } from './check.ts';

/** The result of one check. */
export interface CheckResult extends Omit<Answer, 'status' | 'severity'> {
  readonly check: CheckName;
  /**
   * - `Met`, `NotMet`, `Unknown`: as the check answered.
   * - `Ignored`: it is not met or unknown, and the user ignores it. Ignored advice is not evaluated.
   * - `Unread`: its facts were not read, or it does not apply.
   */
  readonly status: Answer['status'] | 'Ignored' | 'Unread';
  /** The severity of what was found. */
  readonly severity: Severity;
  /** A fact could not be read, whether the user ignores that or not. */
  readonly isUnknown?: true;
}

/** The result of a required check or a warning. */
export interface PrerequisiteResult extends CheckResult {
  readonly check: Prerequisite;
}

/** The results of all checks, in their order, and those that need attention. Advice is only in `all`. */
export interface CheckResults {
  readonly all: readonly CheckResult[];
  /** What blocks the pool. */
  readonly failed: readonly PrerequisiteResult[];
  readonly warned: readonly PrerequisiteResult[];
  readonly ignored: readonly PrerequisiteResult[];
  readonly unknown: readonly PrerequisiteResult[];
}

/** Runs the checks. `ignored`: those that the user ignores. */
export function runChecks<I>(
  checks: readonly Check<I, string>[],
  input: I,
  ignored: ReadonlySet<CheckReason>,
): CheckResults {
  const all = checks.map((check) => {
    const isIgnored = ignored.has(check.reason);
    if (check.severity !== 'Advice') return resultOf(check, check.evaluate(input), isIgnored);
    return isIgnored
      ? { ...unread(check), status: 'Ignored' as const }
      : resultOf(check, advice(check.evaluate(input)));
  });
  const prerequisites = all.filter(isPrerequisite);
  const having = (status: CheckResult['status']) => prerequisites.filter((result) => result.status === status);
  return {
    all,
    failed: having('NotMet').filter(({ severity }) => severity === 'Required'),
    warned: having('NotMet').filter(({ severity }) => severity === 'Warning'),
    ignored: having('Ignored'),
    unknown: having('Unknown'),
  };
}

/**
 * Advice is not worth a permission: without it, there is none, and nothing reports that. When a call failed for another reason, which usually passes, the
 * facts count as not read.
 */
function advice(answer: Answer | undefined): Answer | undefined {
  if (answer?.status !== 'Unknown') return answer;
  return answer.right === undefined ? undefined : met;
}

function resultOf(check: CheckName, answer: Answer | undefined, isIgnored = false): CheckResult {
  if (!answer) return unread(check);
  const isUnknown = answer.status === 'Unknown';
  const status = isIgnored && answer.status !== 'Met' ? 'Ignored' : answer.status;
  return { check, severity: check.severity, ...answer, status, ...(isUnknown && { isUnknown }) };
}

function unread(check: CheckName): CheckResult {
  return { check, severity: check.severity, status: 'Unread', message: '' };
}

function isPrerequisite(result: CheckResult): result is PrerequisiteResult {
  return result.check.severity !== 'Advice';
}
