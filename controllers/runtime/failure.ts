import type { ApiFailure } from './ports.ts';

/** An ERROR event of a watch, or a failure that the engine detects. */
export class StreamFailure extends Error implements ApiFailure {
  override readonly name = 'StreamFailure';
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly string[] | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, failure: ApiFailure = {}) {
    super(message);
    this.status = failure.status;
    this.reason = failure.reason;
    this.causes = failure.causes;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** Reads the fields of an ApiFailure from any thrown value. */
export function failureOf(error: unknown): ApiFailure {
  if (typeof error !== 'object' || error === null) return {};
  const { status, reason, causes, retryAfterMs } = error as Record<keyof ApiFailure, unknown>;
  return {
    status: typeof status === 'number' ? status : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
    causes: Array.isArray(causes) ? causes.filter((cause) => typeof cause === 'string') : undefined,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The resourceVersion is too old: its history was compacted, and a relist is needed. */
export function isExpired({ status, reason }: ApiFailure): boolean {
  return status === 410 || reason === 'Expired' || reason === 'Gone';
}

/** The server has not reached this resourceVersion, or was restored to an earlier state. */
export function isTooLargeVersion({ causes }: ApiFailure): boolean {
  return causes?.includes('ResourceVersionTooLarge') ?? false;
}

/** Whether a retry would be rejected again: any 4xx except those for permissions, conflicts, rate and expiry. */
export function isRefused({ status }: ApiFailure): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 409, 410, 429].includes(status);
}
