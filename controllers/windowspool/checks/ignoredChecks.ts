/** The checks that an annotation of the pool ignores. Pure. */
import type { WindowsPool } from '../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../api/labels.ts';
import { type CheckReason, checkReasons } from '../api/reasons.ts';
import type { Settings } from '../model/observedState.ts';
import { editDistance } from '../util/editDistance.ts';
import { cut, joined } from '../util/words.ts';

/** More than a list of all reasons needs; the rest is not read. */
const ANNOTATION_LENGTH = 2_000;
/** More than any reason has. */
const WORD_LENGTH = 40;
/** How many unknown words a message names. */
const MOST = 3;

/** Never ignored: in another cluster, a pool would create a second group or change objects that it does not own. */
const ENFORCED: readonly string[] = ['ClusterNotConfigured', 'ClusterMismatch', 'ClusterNotFound'];

const NONE: ReadonlySet<CheckReason> = new Set();

/** The prerequisites that must not block the pool, and the advice that must not be shown. */
export function ignoredChecks(pool: WindowsPool): ReadonlySet<CheckReason> {
  const words = wordsIn(pool);
  return words.length === 0 ? NONE : new Set(words.filter(isReason));
}

/** The errors in the annotation, as a sentence; undefined when it has none. */
export function annotationFault(pool: WindowsPool, { docsUrl }: Pick<Settings, 'docsUrl'>): string | undefined {
  const wrong = wordsIn(pool).filter((word) => !isReason(word));
  const enforced = wrong.filter((word) => ENFORCED.includes(word));
  const unknown = wrong.filter((word) => !ENFORCED.includes(word));
  const faults = [
    enforced.length > 0 && `${joined(enforced)} cannot be ignored`,
    unknown.length > 0 &&
      `unknown ${unknown.length === 1 ? 'prerequisite' : 'prerequisites'} ${joined(unknown.map(withSuggestion), MOST)}. See ${docsUrl}/reference/checks.md for valid names`,
  ].filter((fault) => fault !== false);
  return faults.length === 0 ? undefined : `Annotation ${IGNORE_PREREQUISITES_ANNOTATION}: ${faults.join('; ')}.`;
}

function wordsIn({ metadata }: WindowsPool): string[] {
  const value = metadata.annotations?.[IGNORE_PREREQUISITES_ANNOTATION];
  if (value === undefined) return [];
  const words = value.slice(0, ANNOTATION_LENGTH).split(',');
  return [...new Set(words.map((word) => cut(word.trim(), WORD_LENGTH)))].filter((word) => word !== '');
}

function isReason(word: string): word is CheckReason {
  return checkReasons.some((reason) => reason === word);
}

function withSuggestion(word: string): string {
  const distances = checkReasons.map((reason) => editDistance(word.toLowerCase(), reason.toLowerCase()));
  const least = Math.min(...distances);
  return least > word.length / 3 ? word : `${word} (did you mean ${checkReasons[distances.indexOf(least)]}?)`;
}
