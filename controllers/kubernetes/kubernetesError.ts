import type { ApiFailure } from '../runtime/ports.ts';

export interface KubernetesErrorFields extends ApiFailure {
  /** The reason of the Status (`Forbidden`, `Conflict`) or the code of the network error (`ECONNREFUSED`, `Timeout`). */
  readonly reason: string;
  /** Messages of the causes of the Status. */
  readonly details?: readonly string[];
  /** Fields that the API server rejected, such as `spec.subnets`. */
  readonly fields?: readonly string[];
}

/** A request that the API server rejected or did not respond to. `message` is the server's. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  readonly status: number | undefined;
  readonly reason: string;
  readonly causes: readonly string[];
  readonly details: readonly string[];
  readonly fields: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: KubernetesErrorFields, options?: ErrorOptions) {
    super(message, options);
    this.status = fields.status;
    this.reason = fields.reason;
    this.causes = fields.causes ?? [];
    this.details = fields.details ?? [];
    this.fields = fields.fields ?? [];
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** A response or watch event that cannot be decoded. It is discarded as a whole. */
export class MalformedData extends KubernetesError {
  /** @param what such as `an event without an object` */
  constructor(what: string, options?: ErrorOptions) {
    super(`malformed data from the API server: ${what}`, { reason: 'MalformedAnswer' }, options);
  }
}

/** A response that is longer than its limit. */
export class TooLarge extends MalformedData {}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The problem in an error of a file or its text: `no such file or directory` of Node's `ENOENT: no such file or directory, open '/x'`, or the first line. */
export function fileProblem(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n', 1);
  return line.replace(/^E[A-Z]+: (.*?), [a-z]+(?: '.*')?$/, '$1').replace(/:$/, '');
}
