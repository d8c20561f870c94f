/**
 * Authorizes requests of /metrics: the API server must authenticate the bearer token and authorize its user to `get` that path, as in
 * controller-runtime's filters.WithAuthenticationAndAuthorization. While the API server is unavailable, all requests are rejected.
 */
import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { ExpiringCache } from '../../../controllers/kubernetes/expiringCache.ts';
import type { Reviews, User } from '../../../controllers/kubernetes/reviews.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';
import { TokenBucket } from '../../../controllers/runtime/tokenBucket.ts';

/** How long results are cached, as in controller-runtime (pkg/metrics/filters): token reviews, allowed access, denied access. */
const TOKEN_MS = 60_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
/** How many tokens and users are cached: an unauthenticated client can send any number of tokens. */
const SIZE = 1_000;
/** How many reviews run at a time, so that unauthenticated clients cannot overload the API server. */
const AT_ONCE = 5;
/** How many reviews may wait; more are rejected. */
const WAITING = 50;

/**
 * Reviews of one client address: a bucket that refills slowly. Clients that send one token take one or two reviews a minute, because results are cached.
 */
const REVIEWS_PER_SECOND = 1;
const BURST = 20;

/** Interval between two warnings, so that unauthenticated clients cannot flood the log. Responses always have the cause. */
const WARN_MS = 60_000;

/** The name of the ClusterRole in config/rbac. */
const READER = 'windowspool-operator-metrics-reader';

/** Why a request is rejected. */
export interface Refusal {
  /** 401: not authenticated; 403: not authorized; 429: too many reviews for this client; 503: the review failed. */
  readonly status: 401 | 403 | 429 | 503;
  /** The cause and the remedy. */
  readonly text: string;
}

/** Authenticates and authorizes requests. */
export class ScrapeAccess {
  readonly #reviews: Reviews;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #users: ExpiringCache<User | undefined>;
  readonly #permissions: ExpiringCache<boolean>;
  readonly #queue = new PQueue({ concurrency: AT_ONCE });
  /** By client address; the oldest beyond SIZE is dropped. */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #now: () => number;
  #warnedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param now a monotonic clock in milliseconds
   * @param signal aborts pending reviews
   */
  constructor(reviews: Reviews, log: Logger, now: () => number, signal: AbortSignal) {
    this.#reviews = reviews;
    this.#log = log;
    this.#signal = signal;
    this.#now = now;
    this.#users = new ExpiringCache(SIZE, () => TOKEN_MS, now);
    this.#permissions = new ExpiringCache(SIZE, (allowed) => (allowed ? ALLOWED_MS : DENIED_MS), now);
  }

  /**
   * Undefined when the request is allowed. Never rejects.
   * @param authorization the value of the header
   * @param client the address of the client
   */
  async refusal(
    authorization: string | undefined,
    verb: string,
    path: string,
    client: string,
  ): Promise<Refusal | undefined> {
    const token = tokenIn(authorization);
    if (token === undefined)
      return {
        status: 401,
        text: 'Not authenticated. Send the token of a ServiceAccount in the header Authorization: Bearer TOKEN.',
      };
    try {
      return await this.#review(token, verb, path, client);
    } catch (error) {
      if (error instanceof TooManyReviews) return { status: 429, text: error.message };
      return this.#failure(error as Error);
    }
  }

  async #review(token: string, verb: string, path: string, client: string): Promise<Refusal | undefined> {
    const { userOf, mayUse } = this.#reviews;
    // A token is a credential: only its hash is kept.
    const key = createHash('sha256').update(token).digest('base64');
    const user = await this.#users.get(key, () => this.#ask(client, () => userOf(token, this.#signal)));
    if (!user)
      return {
        status: 401,
        text: 'The API server rejected this token: it is invalid or has expired. Send a new one.',
      };
    const question = JSON.stringify([user, verb, path]);
    const allowed = await this.#permissions.get(question, () =>
      this.#ask(client, () => mayUse(user, verb, path, this.#signal)),
    );
    if (allowed) return undefined;
    return {
      status: 403,
      text: `User ${user.username} is not authorized to ${verb} ${path}. Bind it to ClusterRole ${READER}.`,
    };
  }

  async #ask<T>(client: string, question: () => Promise<T>): Promise<T> {
    if (!this.#bucketOf(client).tryTake(this.#now())) throw new TooManyReviews();
    if (this.#queue.size >= WAITING) throw new Error(`more than ${WAITING} reviews are pending`);
    return this.#queue.add(question, { signal: this.#signal });
  }

  #bucketOf(client: string): TokenBucket {
    const bucket = this.#buckets.get(client) ?? new TokenBucket(REVIEWS_PER_SECOND, BURST);
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > SIZE && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }

  #failure({ message }: Error): Refusal {
    if (this.#now() - this.#warnedAt >= WARN_MS) {
      this.#warnedAt = this.#now();
      this.#log.warn({ error: message }, 'a metrics request could not be authorized');
    }
    return { status: 503, text: `The token could not be reviewed: ${message}. Try again.` };
  }
}

class TooManyReviews extends Error {
  override readonly message = 'This client sent too many different tokens. Try again in a minute, with one token.';
}

/** The token of a header such as `Bearer abc`; undefined for any other header. */
function tokenIn(authorization: string | undefined): string | undefined {
  return /^bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1];
}
