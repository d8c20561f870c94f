/** What PrerequisitesMet says beside what is missing: warnings, ignored prerequisites, a misspelt annotation. Pure. */
import type { WindowsPool } from '../../../api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../labels.ts';
import type { Examination, PrerequisiteCheck, PrerequisiteResult } from '../../../model/prerequisites.ts';
import { count, joined, sentence } from '../../../util/words.ts';
import { annotationFault } from './ignored.ts';

/** The page of the docs that has a section for each prerequisite. */
export const PAGE = 'docs/prerequisites.md';

type ReportedEvent = readonly {
  readonly check: PrerequisiteCheck;
  readonly result: Exclude<PrerequisiteResult, { kind: 'met' }>;
}[];

/** Each with its section of the docs; several are numbered. */
export function listed(reported: ReportedEvent, prefix: (check: PrerequisiteCheck) => string = () => ''): string {
  const texts = reported.map(
    ({ check, result }) => `${prefix(check)}${sentence(wordsOf(result))} See ${PAGE}#${check.section}.`,
  );
  return texts.length === 1 ? texts.join('') : texts.map((text, i) => `(${i + 1}) ${text}`).join(' ');
}

/** A call that fails now and then is not told: the message would change at each try. */
function wordsOf(result: ReportedEvent[number]['result']): string {
  if (result.kind !== 'unknown') return result.message;
  return result.right === undefined ? 'Could not be checked' : `Could not be checked: ${result.message}`;
}

/** Every warning and every ignored prerequisite with its text: what a pool says that nothing holds back. Empty when there is nothing. */
export function remarksOf(pool: WindowsPool, { warned, ignored }: Examination): string {
  const named = (reported: ReportedEvent) => listed(reported, ({ reason }) => `${reason}: `);
  return inSentences([
    warned.length > 0 && `${count(warned.length, 'warning')}, blocking nothing: ${named(warned)}`,
    ignored.length > 0 && `${count(ignored.length, 'prerequisite')} ignored by ${ANNOTATION}: ${named(ignored)}`,
    annotationFault(pool),
  ]);
}

/** The same by reasons alone, beside a prerequisite that fails: that one comes first. */
export function briefRemarksOf(pool: WindowsPool, { warned, ignored }: Examination): string {
  const names = (reported: ReportedEvent) => joined(reported.map(({ check }) => check.reason));
  return inSentences([
    warned.length > 0 && `${count(warned.length, 'warning')}, blocking nothing: ${names(warned)}.`,
    ignored.length > 0 && `Ignored by ${ANNOTATION}: ${names(ignored)}.`,
    annotationFault(pool),
  ]);
}

const ANNOTATION = `annotation ${IGNORE_PREREQUISITES_ANNOTATION}`;

function inSentences(texts: readonly (string | false | undefined)[]): string {
  return texts.flatMap((text) => (text ? [` ${text}`] : [])).join('');
}
