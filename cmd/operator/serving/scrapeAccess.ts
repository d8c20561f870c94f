/**
 * Who may read /metrics: whoever the API server knows by a bearer token, and lets `get` that path, as controller-runtime's
 * filters.WithAuthenticationAndAuthorization has it. Without the API server nobody may.
 */
import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { ExpiringCache } from '../../../controllers/kubernetes/expiringCache.ts';
import type { Reviews, User } from '../../../controllers/kubernetes/reviews.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';

/** How long answers are kept, as controller-runtime keeps them (pkg/metrics/filters): of tokens, good or bad; of rights; of their lack. */
const TOKEN_MS = 60_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
/** Tokens and users that are remembered. A stranger can send as many tokens as he likes. */
const SIZE = 1_000;
/** Questions to the API server at a time: strangers must not keep it busy. */
const AT_ONCE = 5;
/** Questions that wait for their turn; more are turned away. */
const WAITING = 50;

/** Between two warnings: strangers must not fill the log. The answers tell every cause. */
const WARN_MS = 60_000;

/** Names the ClusterRole in config/rbac. */
const READER = 'windowspool-operator-metrics-reader';

/** Why a request is refused. */
export interface Refusal {
  /** 401: unknown; 403: known and not allowed; 503: not found out. */
  readonly status: 401 | 403 | 503;
  /** One sentence with the next move. */
  readonly text: string;
}

/** Decides about requests. */
export class ScrapeAccess {
  readonly #reviews: Reviews;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #users: ExpiringCache<User | undefined>;
  readonly #rights: ExpiringCache<boolean>;
  readonly #turns = new PQueue({ concurrency: AT_ONCE });
  readonly #now: () => number;
  #warnedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param now a clock in milliseconds that never goes back
   * @param signal ends questions that are on their way
   */
  constructor(reviews: Reviews, log: Logger, now: () => number, signal: AbortSignal) {
    this.#reviews = reviews;
    this.#log = log;
    this.#signal = signal;
    this.#now = now;
    this.#users = new ExpiringCache(SIZE, () => TOKEN_MS, now);
    this.#rights = new ExpiringCache(SIZE, (allowed) => (allowed ? ALLOWED_MS : DENIED_MS), now);
  }

  /**
   * Undefined when the request may go on. Never rejects.
   * @param authorization the header as it came
   */
  async refusal(authorization: string | undefined, verb: string, path: string): Promise<Refusal | undefined> {
    const token = tokenIn(authorization);
    if (token === undefined)
      return { status: 401, text: 'Send the token of a ServiceAccount: Authorization: Bearer TOKEN.' };
    try {
      return await this.#judge(token, verb, path);
    } catch (error) {
      return this.#failure(error as Error);
    }
  }

  async #judge(token: string, verb: string, path: string): Promise<Refusal | undefined> {
    const { userOf, mayUse } = this.#reviews;
    // A token is a password: it is not kept.
    const key = createHash('sha256').update(token).digest('base64');
    const user = await this.#users.get(key, () => this.#ask(() => userOf(token, this.#signal)));
    if (!user)
      return {
        status: 401,
        text: 'The API server does not accept this token: it is wrong, or it has expired. Send a new one.',
      };
    const question = JSON.stringify([user, verb, path]);
    const allowed = await this.#rights.get(question, () => this.#ask(() => mayUse(user, verb, path, this.#signal)));
    if (allowed) return undefined;
    return { status: 403, text: `${user.username} may not ${verb} ${path}. Bind it to the ClusterRole ${READER}.` };
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.#turns.size >= WAITING) throw new Error(`more than ${WAITING} tokens wait to be checked`);
    return this.#turns.add(question, { signal: this.#signal });
  }

  #failure({ message }: Error): Refusal {
    if (this.#now() - this.#warnedAt >= WARN_MS) {
      this.#warnedAt = this.#now();
      this.#log.warn({ error: message }, 'a scrape of the metrics could not be authorized');
    }
    return { status: 503, text: `Whether this token may read metrics is not known: ${message}. Try again.` };
  }
}

/** The token of a header such as `Bearer abc`; undefined where it is something else. */
function tokenIn(authorization: string | undefined): string | undefined {
  return /^bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1];
}
