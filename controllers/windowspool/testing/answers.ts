/** What a port answers, in one word each. */
import type { Answer, Trouble, TroubleKind } from '../ports/answer.ts';
import { sampleTrouble } from './fixtures.ts';

/** The answer that was asked for. */
export function known<T>(value: T): Answer<T> {
  return { ok: true, value };
}

/** No answer, because of an expected trouble. */
export function unanswered(kind: TroubleKind): { readonly ok: false; readonly trouble: Trouble } {
  return { ok: false, trouble: sampleTrouble(kind) };
}
