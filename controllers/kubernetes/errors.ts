import type { CallError, CallErrorKind, CallResult } from '../windowspool/ports/callResult.ts';
import { KubernetesError } from './kubernetesError.ts';
import { failureOfStatus, statusOfBody } from './status.ts';

/** An answer with a status of 400 or more. Load balancers answer with HTML or nothing, so the body may be anything. */
export function errorOfResponse(status: number, retryAfter: string | undefined, body: Buffer): KubernetesError {
  const reported = statusOfBody(body);
  const failure = reported && failureOfStatus(reported);
  const retryAfterMs = retryAfter === undefined ? failure?.retryAfterMs : Number(retryAfter) * 1000;
  return new KubernetesError(reported?.message || `the API server answered ${status}: ${excerpt(body)}`, {
    status,
    reason: failure?.reason ?? `HTTP${status}`,
    causes: failure?.causes ?? [],
    details: reported?.causes.map(({ message: detail }) => detail).filter((detail) => detail !== '') ?? [],
    fields: reported?.causes.map(({ field }) => field).filter((field) => field !== '') ?? [],
    retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : undefined,
  });
}

/** A request that got no answer: refused, reset, timed out, a certificate that is not trusted. */
export function errorOfNetwork(error: unknown, server: string): KubernetesError {
  const { code, name, message } = error as { code?: unknown; name?: string; message?: string };
  // A DOMException, such as the one of a time-out, has a number for a code.
  const reason = typeof code === 'string' ? code : (name ?? 'Unknown');
  return new KubernetesError(`no answer from ${server}: ${message || reason}`, { reason }, { cause: error });
}

/** Whether it says that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 404;
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

/** Classifies a failed request in the domain's words. `operation` is verb and resource: `patch runtimeclasses`. */
export function toCallError(error: KubernetesError, operation: string): CallError {
  const { status, reason, message, fields } = error;
  // A uid in a patch is a precondition. The API server calls it an immutable field when another object has taken the name.
  if (fields.includes('metadata.uid')) return { kind: 'conflict', operation, code: reason, message };
  const kind = status === undefined || status >= 500 ? 'unavailable' : (KINDS[status] ?? 'unknown');
  return { kind, operation, code: reason, message };
}

/**
 * Makes expected trouble a value. Throws the caller's own abort, so that nobody mistakes it for trouble of the API server, and
 * everything that is no KubernetesError: a bug.
 */
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

function excerpt(body: Buffer): string {
  const text = body
    .toString('utf8')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > 200 ? `${text.slice(0, 200)}...` : text || 'no text';
}
