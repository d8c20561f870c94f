/** The prerequisites of a pool: a list of pure checks of one input. */

import { sentence } from '../../../util/words.ts';
import type { Checked, CheckInput, Examination, PrerequisiteCheck } from '../model/prerequisiteFacts.ts';
import { capacityChecks } from './capacityChecks.ts';
import { clusterChecks } from './clusterChecks.ts';
import { imageChecks } from './imageChecks.ts';
import { machineChecks } from './machineChecks.ts';
import { networkChecks } from './networkChecks.ts';
import { roleChecks } from './roleChecks.ts';
import { templateChecks } from './templateChecks.ts';

/** By importance: the first that fails sets the reason of the condition. */
export const checks: readonly PrerequisiteCheck[] = [
  ...clusterChecks,
  ...networkChecks,
  ...roleChecks,
  ...templateChecks,
  ...machineChecks,
  ...imageChecks,
  ...capacityChecks,
];

/** Runs every check that the facts allow. */
export function examine(input: CheckInput): Examination {
  const failed: Checked<'failed'>[] = [];
  const warned: Checked<'warning'>[] = [];
  const ignored: Checked<'failed' | 'warning' | 'unknown'>[] = [];
  const unknown: Checked<'unknown'>[] = [];
  const notes: string[] = [];
  for (const check of checks) {
    const result = check.look(input);
    if (!result) continue;
    if (result.kind === 'met') {
      if (result.note) notes.push(sentence(result.note));
    } else if (input.ignored.has(check.reason)) ignored.push({ check, result });
    else if (result.kind === 'failed') failed.push({ check, result });
    else if (result.kind === 'warning') warned.push({ check, result });
    else unknown.push({ check, result });
  }
  return { failed, warned, ignored, unknown, notes };
}
