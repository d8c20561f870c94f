/** Results of calls, converted. */
import type { CallResult } from '../windowspool/ports/callResult.ts';

/** The result with another value. */
export function mapped<T, U>(result: CallResult<T>, map: (value: T) => U): CallResult<U> {
  return result.ok ? { ok: true, value: map(result.value) } : result;
}

/** The result without its value. */
export function done(result: CallResult<unknown>): CallResult<void> {
  return mapped(result, () => undefined);
}

/** What does not exist is undefined instead of an error. */
export function unlessGone<T>(result: CallResult<T>): CallResult<T | undefined> {
  return !result.ok && result.error.kind === 'gone' ? { ok: true, value: undefined } : result;
}

/** The same for an object of an EKS cluster. EKS also answers ResourceNotFound for a missing cluster; only the message differs. */
export function unlessAbsent<T>(result: CallResult<T>): CallResult<T | undefined> {
  return !result.ok && /^No cluster found/i.test(result.error.message) ? result : unlessGone(result);
}
