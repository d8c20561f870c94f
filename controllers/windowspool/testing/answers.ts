/** Short constructors for results of ports. */
import type { CallError, CallErrorKind, CallResult } from '../ports/callResult.ts';
import { sampleError } from './fixtures.ts';

/** A successful result. */
export function known<T>(value: T): CallResult<T> {
  return { ok: true, value };
}

/** An error of this kind. */
export function unanswered(kind: CallErrorKind): { readonly ok: false; readonly error: CallError } {
  return { ok: false, error: sampleError(kind) };
}
