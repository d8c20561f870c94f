/** What a check is, and what it can answer. */
import type { CallError } from '../ports/answer.ts';
import type { PrerequisiteReason } from '../reasons.ts';
import { sentence } from '../words.ts';
import { type CheckInput, type PrerequisiteFacts, RIGHTS } from './facts.ts';

/**
 * - `met`. `note`: what is met only later, by itself, and why nobody has to act.
 * - `failed`: the message says what was found and the next move. `passes`: it gets better by itself.
 * - `warning`: it may become a problem, or is one only for some workloads; the message is as that of `failed`. Blocks nothing.
 * - `unknown`: it could not be found out; the message says why. `right`: the one that is missing.
 */
export type Result =
  | { readonly kind: 'met'; readonly note?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly passes?: true }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly right?: string };

export interface Check {
  readonly reason: PrerequisiteReason;
  /** What it is about, in a message: `Windows IPAM`. */
  readonly about: string;
  /** The heading in docs/prerequisites.md, as an anchor. */
  readonly section: string;
  /** Pure. Undefined when what it looks at was not asked for. */
  readonly look: (input: CheckInput) => Result | undefined;
}

export const met: Result = { kind: 'met' };

export function metWith(note: string): Result {
  return { kind: 'met', note };
}

export function failed(message: string): Result {
  return { kind: 'failed', message };
}

export function warning(message: string): Result {
  return { kind: 'warning', message };
}

/** What is said when a fact could not be found out. */
export function unknown(fact: keyof typeof RIGHTS, error: CallError): Result {
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
  judge: (value: Known<K>) => Result | undefined,
): Result | undefined {
  const fact = facts[name] as { ok: true; value: Known<K> } | { ok: false; error: CallError } | undefined;
  if (!fact) return undefined;
  return fact.ok ? judge(fact.value) : unknown(name, fact.error);
}

type Known<K extends keyof typeof RIGHTS> = Extract<NonNullable<PrerequisiteFacts[K]>, { ok: true }>['value'];
