/** Tests of checks: the input of each row, and what needs attention. */

import { describeResult } from '../checks/describeChecks.ts';
import type { CheckInput } from '../providers/nodeGroup/model/checkFacts.ts';
import { sentence } from '../util/words.ts';
import { type Brief, textTable } from './goldenTexts.ts';
import { examine } from './prerequisites.ts';

/** The input of the checks, and what they find, each with its reason and arguments. */
export type CheckRow = readonly [what: string, input: CheckInput, want: readonly Brief[]];

/** The results that need attention, except advice, as `reason (grade): message`. */
export function unmet(input: CheckInput): string[] {
  const { all, failed, warned, unknown } = examine(input);
  return [
    ...all.flatMap(({ status, message }) => (status === 'Met' && message ? `note: ${sentence(message)}` : [])),
    ...warned.map((result) => `${result.check.reason} (warning): ${describeResult(result)}`),
    ...failed.map(
      (result) => `${result.check.reason}: ${describeResult(result)}${result.isTransient ? ' (passes)' : ''}`,
    ),
    ...unknown.map(({ check, message }) => `${check.reason} (unknown): ${message}`),
  ];
}

/** A function that declares a test for each row, and one for the page with all messages. */
export function checkTable(name: string): (rows: readonly CheckRow[]) => void {
  const check = textTable(name);
  return (rows) => {
    for (const [what, input, want] of rows)
      check(`${want.length === 0 ? 'accept' : 'report'} ${what}`, () => unmet(input), want);
  };
}
