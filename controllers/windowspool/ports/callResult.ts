/** Results of calls that may fail in expected ways: an expected error is a value, a bug is an exception. */

import { foreignMessage } from './foreignText.ts';

/**
 * The kinds of call errors, classified once in the adapters.
 * - `throttled`, `unavailable`: retry with backoff (429, 5xx, network, timeouts).
 * - `busy`: another client is changing the object; retry later (409 ResourceInUse, 428).
 * - `denied`: the operator lacks a permission (403, or a message that says so); an administrator must grant it.
 * - `refused`: the request itself is invalid (InvalidParameter, InvalidRequest); the same request would be refused again.
 * - `limit`: a quota is exceeded (ResourceLimitExceeded).
 * - `conflict`: the object changed since it was read (a failed precondition); read it again.
 * - `gone`: the object, or what it belongs to, does not exist.
 * - `unknown`: none of these; retried slowly.
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

/** A failed call. `message` is the server's, without request IDs and encoded authorization messages. */
export interface CallError {
  readonly kind: CallErrorKind;
  /** The operation that failed, as its API names it: `CreateNodegroup`, `patch runtimeclasses`. */
  readonly operation: string;
  /** The error's name in its API: `InvalidParameterException`, `Forbidden`. */
  readonly code: string;
  readonly message: string;
  /** The missing IAM action, if the server names it: `iam:PassRole`. Only with `denied`. */
  readonly action?: string;
  /** What IAM says of it. Only with `action`, and if the message has one of the forms that IAM documents. */
  readonly denial?: Denial;
  /** The same request may succeed later: EKS does not offer the AMI release yet. Only with `refused`. */
  readonly isTransient?: true;
}

/** Whom IAM denied an action, on what, and by which policy. */
export interface Denial {
  /** `role windowspool-operator`, `user ci`. */
  readonly principal: string;
  /** The ARN of the resource, or `*`. */
  readonly resource?: string;
  /** The type of the policy: `identity-based policy`, `service control policy`. */
  readonly policy?: string;
  /** Such a policy denies the action; otherwise, none of this type allows it. */
  readonly isExplicit?: true;
}

/** The result of a call that may fail in expected ways. */
export type CallResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: CallError };

/** More than any message of AWS without its encoded authorization message, which comes last. */
const SCRUBBED_LENGTH = 2_048;

/**
 * An AWS message without the parts that change with every attempt (request IDs, encoded authorization messages), so that a condition can quote it.
 */
export function scrub(message: string): string {
  // Cut first: the expressions take more than linear time for hostile texts.
  const text = message
    .slice(0, SCRUBBED_LENGTH)
    .replace(/[.,;]?\s*Encoded authorization failure message:\s*\S+/gi, '.')
    .replace(/\s*\((?:[^()]*\b(?:request ?id|host id)\b[^()]*)\)/gi, '')
    .replace(/[.,;]?\s*request ?id:?\s*[0-9a-f-]{8,}/gi, '')
    .replace(/\.\.+$/, '.')
    .trim();
  return foreignMessage(text);
}
