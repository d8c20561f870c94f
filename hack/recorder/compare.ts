/** Compares the entries of a case in two versions. Pure. */
import { aligned, type Pair } from './align.ts';
import { type Difference, fieldDifferences, groupOf } from './difference.ts';
import type { Entry, Json, Observation } from './entry.ts';

/** The result of the comparison of two entries. */
export interface Comparison {
  readonly differences: readonly Difference[];
  /** Whether the rest of a life was not compared, because it follows from a difference. */
  readonly isCut: boolean;
}

/** An input that differs in more fields is another one: the generator of random values has changed. */
const MOST_FIELDS = 20;

/** Whether a difference is expected, and does not end the comparison of a case. */
export type IsExpected = (difference: Difference) => boolean;

/** What differs in an observation, without the case. */
type Found = Omit<Difference, 'case'>;

/**
 * The differences between two entries of the same case. What follows in a life is a result of the calls and their times. So it is compared up to
 * the run that makes another call, the first run at another time, or the first input that differs. If another call is expected, it is compared
 * further.
 */
export function compareEntries(before: Entry, after: Entry, isExpected: IsExpected = () => false): Comparison {
  const differences: Difference[] = [];
  /** Adds differences, and returns whether all of them are expected. */
  const add = (found: readonly Found[]): boolean => {
    const named = found.map((each) => ({ ...each, case: after.name }));
    differences.push(...named);
    return named.every(isExpected);
  };
  if (!add(inputsOf(before, after))) return { differences, isCut: false };
  let hasOtherCall = false;
  let endsWithRun = false;
  for (const pair of aligned(before.observations, after.observations)) {
    if (endsWithRun && kindOf(pair) === 'run') return { differences, isCut: true };
    const found = differencesOf(pair);
    const calls = found.filter(({ group }) => group === 'calls' || group === 'bodies');
    hasOtherCall ||= kindOf(pair) === 'call' && found.length > 0;
    if (!add(calls)) endsWithRun = true;
    add(found.filter((each) => !calls.includes(each)));
    // After another call, the world differs as a result, even if it differs only in a text.
    if ((!hasOtherCall && !add(inputDifferences(pair))) || isAtOtherTime(pair)) return { differences, isCut: true };
  }
  return { differences, isCut: false };
}

/** The difference of a case that only one version has. */
export function missingCase(name: string, version: 'before' | 'after'): Difference {
  const has = { before: undefined, after: undefined, [version]: name };
  return { group: 'cases', case: name, path: `only ${version}`, ...has };
}

function differencesOf(pair: Pair): Found[] {
  const { before, after } = pair;
  const kind = kindOf(pair);
  if (kind === 'action') return [];
  const path = pathOf(pair);
  // The fields of a status are named, so that a new one can be expected.
  if (!(before && after) && kind !== 'status')
    return [
      { group: kind === 'call' ? 'calls' : groupOf(kind, path), path, before: shown(before), after: shown(after) },
    ];
  const fields = fieldDifferences(path, before?.data, after?.data);
  return fields.map((found) => ({ ...found, group: groupOf(kind, found.path) }));
}

/** The fields of the input that differ, unless it is another input altogether. */
function inputsOf(before: Entry, after: Entry): Found[] {
  const fields = fieldDifferences('input', before.input, after.input);
  if (fields.length > MOST_FIELDS) return [{ group: 'inputs', path: 'input', before: 'one', after: 'another' }];
  return fields.map((found) => ({ ...found, group: 'inputs' }));
}

/** What the simulation did, if it differs: an action, or the answer to the same call. */
function inputDifferences(pair: Pair): Found[] {
  const { before, after } = pair;
  const isAction = kindOf(pair) === 'action';
  if (!isAction && !(before && after)) return [];
  const [old, now] = isAction ? [shown(before), shown(after)] : [before?.answer, after?.answer];
  return fieldDifferences(pathOf(pair), old, now).map((found) => ({ ...found, group: 'inputs' }));
}

/** Whether the run begins at another time. */
function isAtOtherTime(pair: Pair): boolean {
  const [old = 0, now = 0] = [pair.before?.data.after, pair.after?.data.after];
  return kindOf(pair) === 'run' && old !== now;
}

function kindOf({ before, after }: Pair): Observation['kind'] {
  return (before ?? after).kind;
}

function pathOf({ before, after }: Pair): string {
  const { kind, name } = before ?? after;
  return kind === name ? name : `${kind} ${name}`;
}

/** What a list of differences shows of an observation. */
function shown(observation: Observation | undefined): Json | undefined {
  if (!observation) return undefined;
  const { of, data } = observation;
  return { ...(of !== undefined && { of }), ...data };
}
