import type { CallError, CallErrorKind, CallResult } from '../windowspool/ports/callResult.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import { KubernetesError } from './kubernetesError.ts';
import { failureOfStatus, retryAfterOf, statusOfBody } from './status.ts';

/** The error of a response with a status of 400 or more. The body can be anything: load balancers send HTML, or nothing. */
export function errorOfResponse(status: number, retryAfter: string | undefined, body: Buffer): KubernetesError {
  const reported = statusOfBody(body);
  const failure = reported && failureOfStatus(reported);
  const retryAfterMs = retryAfter === undefined ? failure?.retryAfterMs : retryAfterOf(Number(retryAfter));
  return new KubernetesError(reported?.message || `the API server responded with ${status}: ${excerpt(body)}`, {
    status,
    reason: failure?.reason ?? `HTTP${status}`,
    causes: failure?.causes ?? [],
    details: reported?.causes.map(({ message: detail }) => detail).filter((detail) => detail !== '') ?? [],
    fields: reported?.causes.map(({ field }) => field).filter((field) => field !== '') ?? [],
    retryAfterMs,
  });
}

/** The error of a request without a response: refused, reset, timed out, or with an untrusted certificate. */
export function errorOfNetwork(error: unknown, server: string): KubernetesError {
  const { code, name, message } = error as { code?: unknown; name?: string; message?: string };
  // The code of a DOMException, such as a TimeoutError, is a number.
  const reason = typeof code === 'string' ? code : (name ?? 'Unknown');
  return new KubernetesError(`no response from ${server}: ${message || reason}`, { reason }, { cause: error });
}

/** Whether the API server responded with 403. */
export function isForbidden(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 403;
}

/** Whether the API server responded with 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 404;
}

/**
 * The result of a request; undefined for a 404, as `client.IgnoreNotFound` of controller-runtime. Convert the response within the promise, so that a
 * malformed one is an error and not a 404.
 */
export function ignoreNotFound<T>(result: Promise<T>): Promise<T | undefined> {
  return result.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

const KINDS: Readonly<Record<number, CallErrorKind>> = {
  400: 'refused',
  401: 'denied',
  403: 'denied',
  404: 'gone',
  405: 'refused',
  406: 'refused',
  409: 'conflict',
  410: 'gone',
  413: 'refused',
  415: 'refused',
  422: 'refused',
  429: 'throttled',
};

/** Classifies a failed request for the domain. `operation` is the verb and the resource: `patch runtimeclasses`. */
export function toCallError(error: KubernetesError, operation: string): CallError {
  const { status, reason, message, fields } = error;
  // The uid in a patch is a precondition. If another object has the name now, the API server reports the uid as an immutable field.
  if (fields.includes('metadata.uid')) return { kind: 'conflict', operation, code: reason, message };
  // An object that its other writers have filled: to try again does not help.
  const isFull = status === 500 && message.includes('etcdserver: request is too large');
  // Server-side apply of a field that the schema does not have: structuredmerge.go of apimachinery.
  const isUnknownField = status === 500 && message.includes('failed to create typed patch object');
  // A webhook that returns any error rejects with 403: validator_custom.go of controller-runtime. It is no missing permission.
  const isRejected = status === 403 && message.startsWith('admission webhook ');
  const kind =
    isFull || isUnknownField || isRejected
      ? 'refused'
      : status === undefined || status >= 500
        ? 'unavailable'
        : (KINDS[status] ?? 'unknown');
  return { kind, operation, code: reason, message };
}

/** Returns a KubernetesError as a CallError. Throws the signal's reason if the caller aborted, and every other error, which is a bug. */
export async function toCallResult<T>(
  operation: string,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<CallResult<T>> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KubernetesError)) throw error;
    return { ok: false, error: toCallError(error, operation) };
  }
}

/** Bytes of a page that may say what is wrong. Cut first: the expressions below would take quadratic time for a long page of `<`. */
const EXCERPT_BYTES = 2_048;

function excerpt(body: Buffer): string {
  const text = body
    .toString('utf8', 0, EXCERPT_BYTES)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return foreignText(text, 200) || 'empty body';
}
