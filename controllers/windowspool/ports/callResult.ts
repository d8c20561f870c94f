/** Answers to calls that may fail in expected ways: expected trouble is a value, a bug is an exception. */

/**
 * Why a call may not do its work, classified once at the edge.
 * - `throttled`, `unavailable`: try again later, with backoff (429, 5xx, network, time-outs).
 * - `busy`: the object is being changed by somebody else; try again later (409 ResourceInUse, 428).
 * - `denied`: the operator lacks a permission (403, or words that say so); an administrator must grant it.
 * - `refused`: the request itself is wrong (InvalidParameter, InvalidRequest); the same one will be refused again.
 * - `limit`: a quota is used up (ResourceLimitExceeded).
 * - `conflict`: the object changed since it was read (a failed precondition); read it again.
 * - `gone`: the object, or what it belongs to, does not exist.
 * - `unknown`: none of these; treated as a slow retry.
 */
export const CALL_ERROR_KINDS = [
  'throttled',
  'unavailable',
  'busy',
  'denied',
  'refused',
  'limit',
  'conflict',
  'gone',
  'unknown',
] as const;

/** One of {@link CALL_ERROR_KINDS}. */
export type CallErrorKind = (typeof CALL_ERROR_KINDS)[number];

/** A failed call. `message` is the other side's own words without request ids and encoded authorization blobs. */
export interface CallError {
  readonly kind: CallErrorKind;
  /** The operation that failed, as its API names it: `CreateNodegroup`, `patch runtimeclasses`. */
  readonly operation: string;
  /** The error's name, as its API gives it: `InvalidParameterException`, `Forbidden`. */
  readonly code: string;
  readonly message: string;
  /** The IAM action that is missing, where the other side names it: `iam:PassRole`. Only with `denied`. */
  readonly action?: string;
  /** The same request may be accepted later: EKS does not offer the AMI release yet. Only with `refused`. */
  readonly passes?: true;
}

/** The answer to a call that may fail in expected ways. */
export type CallResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: CallError };

/** The words of AWS without what changes at every try, request ids and encoded authorization messages: then they can stand in a condition. */
export function scrub(message: string): string {
  return message
    .replace(/[.,;]?\s*Encoded authorization failure message:\s*\S+/gi, '.')
    .replace(/\s*\((?:[^()]*\b(?:request ?id|host id)\b[^()]*)\)/gi, '')
    .replace(/[.,;]?\s*request ?id:?\s*[0-9a-f-]{8,}/gi, '')
    .replace(/\.\.+$/, '.')
    .trim();
}
