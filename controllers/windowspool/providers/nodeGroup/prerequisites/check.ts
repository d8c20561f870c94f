/** The results of a check. */

import type { CallError } from '../../../ports/callResult.ts';
import { sentence } from '../../../util/words.ts';
import type { PrerequisiteFacts, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { PERMISSIONS } from './facts.ts';

/** The prerequisite is met. */
export const met: PrerequisiteResult = { kind: 'met' };

/** The prerequisite will be met without an action of the user; `note` says when. */
export function metWith(note: string): PrerequisiteResult {
  return { kind: 'met', note };
}

/** The prerequisite is not met. `message`: what was found, and the remedy, without a full stop. */
export function failed(message: string): PrerequisiteResult {
  return { kind: 'failed', message };
}

/** The prerequisite may not be met. `message` as for {@link failed}. */
export function warning(message: string): PrerequisiteResult {
  return { kind: 'warning', message };
}

/** The result of a check whose fact could not be read. */
export function unknown(fact: keyof typeof PERMISSIONS, error: CallError): PrerequisiteResult {
  if (error.kind === 'denied') {
    // A fact may need several calls: if PERMISSIONS has the denied one, it is reported.
    const right = Object.values(PERMISSIONS).find((each) => each === error.operation) ?? PERMISSIONS[fact];
    return { kind: 'unknown', message: `missing permission ${right}`, right };
  }
  const text = sentence(error.message).slice(0, -1);
  return { kind: 'unknown', message: `${error.operation} failed${text && `: ${text}`}` };
}

/** Verifies one fact. Undefined when it was not read, `unknown` when reading it failed. */
export function given<K extends keyof typeof PERMISSIONS>(
  facts: PrerequisiteFacts,
  name: K,
  verify: (value: Known<K>) => PrerequisiteResult | undefined,
): PrerequisiteResult | undefined {
  const fact = facts[name] as { ok: true; value: Known<K> } | { ok: false; error: CallError } | undefined;
  if (!fact) return undefined;
  return fact.ok ? verify(fact.value) : unknown(name, fact.error);
}

type Known<K extends keyof typeof PERMISSIONS> = Extract<NonNullable<PrerequisiteFacts[K]>, { ok: true }>['value'];
