/** The remarks of PrerequisitesMet: warnings, ignored prerequisites, errors in the annotation. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../api/labels.ts';
import type { PrerequisitesState } from '../../../model/conditions.ts';
import type { Settings } from '../../../model/observedState.ts';
import { hashOf } from '../../../util/hash.ts';
import { count, joined, sentence } from '../../../util/words.ts';
import type { Examination, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { annotationFault } from './ignored.ts';

/** The link to a section of the page about prerequisites. */
export function prerequisitesLink({ docsUrl }: Pick<Settings, 'docsUrl'>, section: string): string {
  return `${docsUrl}/prerequisites.md#${section}`;
}

interface Reported {
  readonly check: PrerequisiteCheck;
  readonly result: Exclude<PrerequisiteResult, { kind: 'met' }>;
}

/** The message of one result, with a link to the docs; for several, their reasons, because status.prerequisites has the messages. */
export function describeResults(reported: readonly Reported[], settings: Pick<Settings, 'docsUrl'>): string {
  const [first, ...more] = reported;
  if (!first) return '';
  if (more.length > 0)
    return `${joined(
      reported.map(({ check }) => check.reason),
      reported.length,
    )}. See status.prerequisites.`;
  return `${sentence(wordsOf(first.result))} See ${prerequisitesLink(settings, first.check.section)}.`;
}

/** What was found, without a full stop. A transient error is not included: the message would change with each attempt. */
export function wordsOf(result: Reported['result']): string {
  if (result.kind !== 'unknown') return result.message;
  return result.right === undefined ? 'Could not be checked' : `Could not be checked: ${result.message}`;
}

/** Warnings and ignored prerequisites, and errors in the annotation; empty when there are none. */
export function remarksOf(
  pool: WindowsPool,
  { warned, ignored }: Examination,
  settings: Pick<Settings, 'docsUrl'>,
): string {
  const named = (reported: readonly Reported[]) => {
    const [only, ...more] = reported;
    const reason = only && more.length === 0 ? `${only.check.reason}: ` : '';
    return reason + describeResults(reported, settings);
  };
  const texts = [
    warned.length > 0 && `${count(warned.length, 'warning')}: ${named(warned)}`,
    ignored.length > 0 &&
      `${count(ignored.length, 'prerequisite')} ignored by annotation ${IGNORE_PREREQUISITES_ANNOTATION}: ${named(ignored)}`,
    annotationFault(pool, settings),
  ];
  return texts.flatMap((text) => (text ? [` ${text}`] : [])).join('');
}

/**
 * A hash of what users must know although it blocks nothing, for an event when it changes; empty if there is nothing. A warning beside an unmet
 * prerequisite is only listed. The numbers in messages change at any time, so only the names count.
 */
export function remarkable(
  pool: WindowsPool,
  { failed, warned, unknown, ignored }: Examination,
  settings: Pick<Settings, 'docsUrl'>,
): Pick<PrerequisitesState, 'remarks'> {
  const fault = annotationFault(pool, settings);
  const hasWarnings = warned.length > 0 && failed.length + unknown.length === 0;
  if (!hasWarnings && ignored.length === 0 && fault === undefined) return {};
  const named = [...(failed.length > 1 ? failed : []), ...warned, ...ignored].map(({ check }) => check.reason);
  return { remarks: hashOf([named.sort(), fault]) };
}
