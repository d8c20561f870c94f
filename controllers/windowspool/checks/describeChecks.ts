/** What messages say about checks: links to the docs, warnings, ignored prerequisites, errors in the annotation. Pure. */
import type { WindowsPool } from '../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../api/labels.ts';
import type { PrerequisitesState } from '../model/conditions.ts';
import type { Settings } from '../model/observedState.ts';
import { hashOf } from '../util/hash.ts';
import { compact, count, joined, sentence } from '../util/words.ts';
import { annotationFault } from './ignoredChecks.ts';
import type { CheckResult, CheckResults } from './runChecks.ts';

type Docs = Pick<Settings, 'docsUrl'>;

/** The link to a section of the page about prerequisites. */
export function prerequisitesLink({ docsUrl }: Docs, section: string): string {
  return `${docsUrl}/reference/checks.md#${section}`;
}

/** The message of one prerequisite, with a link to the docs; for several, their reasons, because status.checks has the messages. */
function describeResults(results: readonly CheckResult[], settings: Docs): string {
  const [first, ...more] = results;
  if (!first) return '';
  return more.length > 0 ? `${namesOf(results)}. See status.checks.` : describeResult(first, settings);
}

/** The reasons of all of them. */
export function namesOf(results: readonly CheckResult[]): string {
  return joined(
    results.map(({ check }) => check.reason),
    results.length,
  );
}

/** What was found, in sentences, with a link to the docs if `settings` are given. A command is the end. */
export function describeResult(result: CheckResult, settings?: Docs): string {
  const link = settings && `See ${prerequisitesLink(settings, result.check.section)}.`;
  return compact([sentence(findingOf(result)), link, result.fix]).join(' ');
}

/** A transient error is not included: the message would change with each attempt. */
function findingOf({ message, isUnknown, right }: CheckResult): string {
  if (!isUnknown) return message;
  return right === undefined ? 'Could not be checked' : `Could not be checked: ${message}`;
}

/** Errors in the annotation, ignored prerequisites and warnings; empty when there are none. The command of a warning is the end. */
export function remarksOf(pool: WindowsPool, { failed, warned, ignored }: CheckResults, settings: Docs): string {
  const named = (results: readonly CheckResult[]) => {
    const [only, ...more] = results;
    const reason = only && more.length === 0 ? `${only.check.reason}: ` : '';
    return reason + describeResults(results, settings);
  };
  // Only what comes last may end with a command: the others are only named.
  const listed = (results: readonly CheckResult[]) => `${namesOf(results)}. See status.checks.`;
  const warnings = failed.length > 0 ? listed(warned) : named(warned);
  const ignorable = failed.length + warned.length > 0 ? listed(ignored) : named(ignored);
  const texts = [
    annotationFault(pool, settings),
    ignored.length > 0 &&
      `${count(ignored.length, 'prerequisite')} ignored by annotation ${IGNORE_PREREQUISITES_ANNOTATION}: ${ignorable}`,
    warned.length > 0 && `${count(warned.length, 'warning')}: ${warnings}`,
  ];
  return texts.flatMap((text) => (text ? [` ${text}`] : [])).join('');
}

/**
 * A hash of what users must know although it blocks nothing, for an event when it changes; empty if there is nothing. A warning beside an unmet
 * prerequisite is only listed. The numbers in messages change at any time, so only the names count.
 */
export function remarkable(
  pool: WindowsPool,
  { failed, warned, unknown, ignored }: CheckResults,
  settings: Docs,
): Pick<PrerequisitesState, 'remarks'> {
  const fault = annotationFault(pool, settings);
  const hasWarnings = warned.length > 0 && failed.length + unknown.length === 0;
  if (!hasWarnings && ignored.length === 0 && fault === undefined) return {};
  const named = [...(failed.length > 1 ? failed : []), ...warned, ...ignored].map(({ check }) => check.reason);
  return { remarks: hashOf([named.sort(), fault]) };
}
