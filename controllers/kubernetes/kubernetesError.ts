export interface KubernetesErrorFields {
  /** The HTTP status; undefined when no answer came. */
  readonly status?: number | undefined;
  /** The Status' reason (`Forbidden`, `Conflict`), or the network's error code (`ECONNREFUSED`, `Timeout`). */
  readonly reason: string;
  /** The reasons of the Status' causes, such as `ResourceVersionTooLarge`. */
  readonly causes?: readonly string[];
  /** What the Status' causes say, in the order of `causes`. */
  readonly details?: readonly string[];
  /** The fields that were refused, such as `spec.subnets`. */
  readonly fields?: readonly string[];
  readonly retryAfterMs?: number | undefined;
}

/** A request to the API server that was refused or not answered. `message` is the server's own words. */
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

/** An answer, or an event of a watch, that cannot be read. Nothing is made of it: never guess what was meant. */
export class MalformedData extends KubernetesError {
  /** @param what is wrong, such as `a list without a resourceVersion`. */
  constructor(what: string, options?: ErrorOptions) {
    super(`malformed data from the API server: ${what}`, { reason: 'MalformedAnswer' }, options);
  }
}
