/** The prerequisites of a pool: a list of pure functions over one input. */
import { capacityChecks } from './capacityChecks.ts';
import type { Check, Result } from './check.ts';
import { clusterChecks } from './clusterChecks.ts';
import type { CheckInput } from './facts.ts';
import { networkChecks } from './networkChecks.ts';
import { roleChecks } from './roleChecks.ts';
import { templateChecks } from './templateChecks.ts';

/** In the order of importance: the first that fails gives the condition its reason. */
export const checks: readonly Check[] = [
  ...clusterChecks,
  ...networkChecks,
  ...roleChecks,
  ...templateChecks,
  ...capacityChecks,
];

/** What the checks came to. */
export interface Examination {
  readonly failed: readonly { readonly check: Check; readonly result: Extract<Result, { kind: 'failed' }> }[];
  readonly unknown: readonly { readonly check: Check; readonly result: Extract<Result, { kind: 'unknown' }> }[];
}

/** Makes every check that its facts allow. */
export function examine(input: CheckInput): Examination {
  const failed: Examination['failed'][number][] = [];
  const unknown: Examination['unknown'][number][] = [];
  for (const check of checks) {
    const result = check.look(input);
    if (result?.kind === 'failed') failed.push({ check, result });
    if (result?.kind === 'unknown') unknown.push({ check, result });
  }
  return { failed, unknown };
}

/** Whether a word is the reason of a prerequisite that fails. */
export function isPrerequisite(reason: string): boolean {
  return checks.some((check) => check.reason === reason);
}
