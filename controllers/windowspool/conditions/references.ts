/**
 * Conditions in status refer to one another instead of repeating a text: on-call reads a cause once, in Ready if it keeps the pool from being Ready.
 * Pure.
 */

import type { Condition } from '../api/api.gen.ts';
import type { ConditionState } from '../model/conditions.ts';
import { cut } from '../util/words.ts';

/** Shorter texts are repeated: a reference would not be quicker to read. */
const SHORTEST = 60;
/** The longest beginning of a text that precedes a reference. */
const BEGINNING = 200;

/** Conditions that kstatus shows without the others, so they keep the beginning of their text. */
const SHOWN_ALONE: readonly string[] = ['Reconciling', 'Stalled'];

const referenceTo = (type: string) => `See ${type}.`;
/** A text that ends with a reference. */
const REFERENCE = /\bSee (\w+)\.$/;

/** Whether the text of a condition ends with a reference to another one. */
export function refers({ message }: Pick<Condition, 'message'>): boolean {
  return REFERENCE.test(message);
}

/** The conditions of a pool, in which a text that an earlier condition has is replaced with `See Ready.`, or with the type of that condition. */
export function referring(
  conditions: readonly (readonly [type: string, state: ConditionState])[],
): readonly (readonly [type: string, state: ConditionState])[] {
  const earlier: { readonly origin: string; readonly text: string }[] = [];
  const origins = new Map<string, string>();
  return conditions.map(([type, condition]) => {
    const message = condition.message.replace(REFERENCE, (_, to: string) => referenceTo(origins.get(to) ?? to));
    const state = { ...condition, message };
    if (message.length < SHORTEST) return [type, state];
    const whole = earlier.find(({ text }) => text.includes(message));
    const part = earlier.find(({ text }) => message.includes(text));
    earlier.push({ origin: whole?.origin ?? type, text: message });
    if (whole) {
      origins.set(type, whole.origin);
      if (!SHOWN_ALONE.includes(type)) return [type, { ...state, message: referenceTo(whole.origin) }];
      const beginning = firstSentence(message);
      // A reference to the same sentence says no more.
      return [type, beginning === message ? state : { ...state, message: `${beginning} ${referenceTo(whole.origin)}` }];
    }
    return [type, part ? { ...state, message: message.replace(part.text, () => referenceTo(part.origin)) } : state];
  });
}

/** The conditions in status with their whole texts: a condition that only refers to another one has its text. */
export function resolved(conditions: readonly Condition[]): readonly Condition[] {
  return conditions.map((condition) => {
    const origin = conditions.find(({ type }) => condition.message === referenceTo(type));
    return origin ? { ...condition, message: origin.message } : condition;
  });
}

function firstSentence(text: string): string {
  return cut(/^.*?\.(?= [A-Z])/s.exec(text)?.[0] ?? text, BEGINNING);
}
