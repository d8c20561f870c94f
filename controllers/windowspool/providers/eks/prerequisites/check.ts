/** What a check is, and what it can answer. */

import type { PrerequisiteFacts, PrerequisiteResult } from '../../../model/prerequisites.ts';
import type { CallError } from '../../../ports/callResult.ts';
import { sentence } from '../../../util/words.ts';
import { RIGHTS } from './facts.ts';

export const met: PrerequisiteResult = { kind: 'met' };

export function metWith(note: string): PrerequisiteResult {
  return { kind: 'met', note };
}

export function failed(message: string): PrerequisiteResult {
  return { kind: 'failed', message };
}

export function warning(message: string): PrerequisiteResult {
  return { kind: 'warning', message };
}

/** What is said when a fact could not be found out. */
export function unknown(fact: keyof typeof RIGHTS, error: CallError): PrerequisiteResult {
  if (error.kind === 'denied') {
    // A fact may need several calls: where the denied one is called as its right is, that is the one to grant.
    const right = Object.values(RIGHTS).find((each) => each === error.operation) ?? RIGHTS[fact];
    return { kind: 'unknown', message: `it needs ${right}`, right };
  }
  const text = sentence(error.message).slice(0, -1);
  return { kind: 'unknown', message: `${error.operation} failed${text && `: ${text}`}` };
}

/**
 * Looks at one fact. Undefined when it was not asked for, unknown when it was not found out.
 */
export function given<K extends keyof typeof RIGHTS>(
  facts: PrerequisiteFacts,
  name: K,
  judge: (value: Known<K>) => PrerequisiteResult | undefined,
): PrerequisiteResult | undefined {
  const fact = facts[name] as { ok: true; value: Known<K> } | { ok: false; error: CallError } | undefined;
  if (!fact) return undefined;
  return fact.ok ? judge(fact.value) : unknown(name, fact.error);
}

type Known<K extends keyof typeof RIGHTS> = Extract<NonNullable<PrerequisiteFacts[K]>, { ok: true }>['value'];
