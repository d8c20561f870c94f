/** Runs checks. Pure. */
import type { CheckState } from '../api/api.gen.ts';
import type { CheckReason } from '../api/reasons.ts';
import type { Answer, Check, CheckName, Prerequisite, Severity } from './check.ts';

/** The result of one check. */
export interface CheckResult {
  readonly check: CheckName;
  /**
   * - `Met`, `NotMet`, `Unknown`: as the check answered.
   * - `Ignored`: it is not met or unknown, and the user ignores it. Ignored advice is not evaluated.
   * - `Unread`: its facts were not read, or it does not apply.
   */
  readonly status: CheckState['status'] | 'Met' | 'Unread';
  /** The severity of what was found. */
  readonly severity: Severity;
  /** What was found, and the remedy, without a full stop; empty if there is nothing to say. For a check that is met: why no action is needed. */
  readonly message: string;
  /** It resolves automatically. */
  readonly passes?: true;
  /** A fact could not be read, whether the user ignores that or not. */
  readonly isUnknown?: true;
  /** The permission that is missing for it. */
  readonly right?: string;
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
    return check.severity === 'Advice'
      ? adviceResult(check, isIgnored ? 'ignored' : check.evaluate(input))
      : resultOf(check, check.evaluate(input), isIgnored);
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
function adviceResult(check: CheckName, answer: Answer | 'ignored' | undefined): CheckResult {
  if (answer === 'ignored') return { ...emptyResult(check), status: 'Ignored' };
  if (answer?.kind !== 'unknown') return resultOf(check, answer, false);
  return { ...emptyResult(check), status: answer.right === undefined ? 'Unread' : 'Met' };
}

function resultOf(check: CheckName, answer: Answer | undefined, isIgnored: boolean): CheckResult {
  const empty = emptyResult(check);
  if (!answer) return empty;
  if (answer.kind === 'met') return { ...empty, status: 'Met', message: answer.note ?? '' };
  const { message } = answer;
  if (answer.kind === 'unknown') {
    const { right } = answer;
    const status = isIgnored ? 'Ignored' : 'Unknown';
    return { ...empty, status, message, isUnknown: true, ...(right !== undefined && { right }) };
  }
  const { severity = check.severity, passes } = answer;
  return { ...empty, status: isIgnored ? 'Ignored' : 'NotMet', severity, message, ...(passes && { passes }) };
}

function emptyResult(check: CheckName): CheckResult {
  return { check, status: 'Unread', severity: check.severity, message: '' };
}

function isPrerequisite(result: CheckResult): result is PrerequisiteResult {
  return result.check.severity !== 'Advice';
}
