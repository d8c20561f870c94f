/** The remarks of PrerequisitesMet: warnings, ignored prerequisites, errors in the annotation. Pure. */
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

/** Results with links to the docs; several are numbered. */
export function listed(reported: ReportedEvent, prefix: (check: PrerequisiteCheck) => string = () => ''): string {
  const texts = reported.map(
    ({ check, result }) => `${prefix(check)}${sentence(wordsOf(result))} See ${PAGE}#${check.section}.`,
  );
  return texts.length === 1 ? texts.join('') : texts.map((text, i) => `(${i + 1}) ${text}`).join(' ');
}

/** A transient error is not in the message, which would change with each attempt. */
function wordsOf(result: ReportedEvent[number]['result']): string {
  if (result.kind !== 'unknown') return result.message;
  return result.right === undefined ? 'Could not be checked' : `Could not be checked: ${result.message}`;
}

/** All warnings and ignored prerequisites with their messages, for a pool that nothing blocks. Empty when there are none. */
export function remarksOf(pool: WindowsPool, { warned, ignored }: Examination): string {
  const named = (reported: ReportedEvent) => listed(reported, ({ reason }) => `${reason}: `);
  return inSentences([
    warned.length > 0 && `${count(warned.length, 'warning')}, blocking nothing: ${named(warned)}`,
    ignored.length > 0 && `${count(ignored.length, 'prerequisite')} ignored by ${ANNOTATION}: ${named(ignored)}`,
    annotationFault(pool),
  ]);
}

/** The same with reasons only, for a pool with a failed prerequisite, whose message comes first. */
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
