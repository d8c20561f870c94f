/** What a port answers, in one word each. */
import type { CallError, CallErrorKind, CallResult } from '../ports/callResult.ts';
import { sampleError } from './fixtures.ts';

/** The answer that was asked for. */
export function known<T>(value: T): CallResult<T> {
  return { ok: true, value };
}

/** No answer, because of an expected trouble. */
export function unanswered(kind: CallErrorKind): { readonly ok: false; readonly error: CallError } {
  return { ok: false, error: sampleError(kind) };
}
