/** Leader election as in client-go. client-node has none. */
import { deadline } from './clock.ts';
import { failureOf, messageOf } from './failure.ts';
import type { Clock, Fence, Lease, LeaseClient, LeaseRecord, Logger } from './ports.ts';

export interface LeaderElectionTimes {
  /** Candidates wait this long after the last observed renewal. */
  readonly leaseMs: number;
  /** The leader gives up after this time without a renewal. Shorter than the lease, so that it stops before another leader starts. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
  /** A candidate waits up to this share longer between attempts. */
  readonly jitter: number;
}

/** client-go's and controller-runtime's defaults. */
const LEADER_ELECTION_TIMES: LeaderElectionTimes = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryMs: 2_000,
  jitter: 1.2,
};

/** Another client that can write the lease can block every candidate, but not for a day by one write. */
const LONGEST_LEASE_MS = 60_000;

/** Of a lease that was released. */
const RELEASED_SECONDS = 1;

/** The tolerance of leaderElectionHealthChecker in kube-controller-manager and cluster-autoscaler. */
const PATIENCE_MS = 20_000;

/**
 * `requests` of this message is how many requests were allowed in the turn of the event loop in which the process was paused. Each of them may have been sent
 * after the pause, beside another leader. It is an upper bound: those that were allowed first may have been sent before the pause.
 */
export const PAUSED_WHILE_SENDING = 'the process was paused while it sent requests; another process may lead since';

export interface LeaderElectionOptions {
  readonly leases: LeaseClient;
  /** Unique to the process: the pod's name and a random suffix. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly times?: LeaderElectionTimes;
  readonly hooks?: { leading?(isLeader: boolean): void };
}

/** The lease was lost. Another process may become the leader, so this one must exit. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * Elects one leader among several processes, by a Lease.
 *
 *     candidate --lease free or expired--> leader --stop--> still renewing until the work has ended --> released
 *                                            +--not renewed in time, or taken by another--> lost (the process ends)
 *
 * A lease has expired if it has not changed for its duration on the local monotonic clock. Clocks of different machines are never compared.
 */
export class LeaderElector implements Fence {
  readonly #options: LeaderElectionOptions;
  readonly #times: LeaderElectionTimes;
  /** The lease as last read or written. */
  #lease: Lease | undefined;
  /** When this version was first observed, monotonic. */
  #observedAt = 0;
  /** When the last successful renewal was sent, monotonic. */
  #renewedAt = 0;
  /** The same in wall-clock time. The monotonic clock stands still while a virtual machine is suspended. */
  #renewedAtTime = 0;
  #isLeading = false;
  /** When the lease was last read or written, monotonic. */
  #reachedAt: number | undefined;
  /** Requests that were allowed and may not be sent yet. */
  #allowed = 0;
  /** Due when they are sent. */
  #sent: Disposable | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#times = options.times ?? LEADER_ELECTION_TIMES;
  }

  /**
   * Acquires the lease, then runs `work`, whose signal aborts at the stop and at the loss of the lease. Resolves when the work has ended and the
   * lease is released, or at a stop before the lease was acquired. Rejects with LeadershipLost before another process can become the leader, or
   * with the error of the work; the lease then expires.
   */
  async run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { log, hooks, identity } = this.#options;
    log.info({ identity }, 'waiting for the lease');
    if (!(await this.#acquire(signal))) return;
    log.info({ identity }, 'became the leader');
    hooks?.leading?.(true);
    this.#isLeading = true;
    try {
      await this.#lead(signal, work);
    } finally {
      this.#isLeading = false;
      if (this.#sent) this.#reportPause();
      hooks?.leading?.(false);
    }
    await this.#release();
  }

  /** Throws LeadershipLost if this process does not lead, or has not renewed the lease in time on the monotonic or on the wall clock. */
  check(): void {
    if (!this.#isLeading) throw new LeadershipLost('this process does not hold the lease');
    const ageMs = this.#ageMs();
    if (ageMs >= this.#times.renewDeadlineMs)
      throw new LeadershipLost(`the lease was not renewed for ${Math.round(ageMs / 1_000)} s`);
    this.#allowed++;
    // A request that was allowed is sent in the same turn of the event loop, and timers fire in a later one.
    this.#sent ??= this.#options.clock.after(0, () => this.#reportPause());
  }

  /**
   * Why this process cannot hold or acquire the lease; undefined if it can. Tolerates short outages, as kube-controller-manager and
   * cluster-autoscaler do. client-go's health check covers the leader only. Here a leader that loses the lease exits, and the check shows a
   * standby that could not take over.
   */
  unreachable(): string | undefined {
    if (this.#reachedAt === undefined) return 'the lease was not reached yet';
    const silentMs = this.#options.clock.monotonic() - this.#reachedAt;
    if (silentMs <= this.#times.leaseMs + PATIENCE_MS) return undefined;
    return `the lease was not reached for ${Math.round(silentMs / 1000)} s`;
  }

  /** Since the last renewal. */
  #ageMs(): number {
    const { clock } = this.#options;
    return Math.max(clock.monotonic() - this.#renewedAt, clock.now() - this.#renewedAtTime);
  }

  /** No process can check the lease and send a request at the same instant. A pause in between is logged if another process could lead after it. */
  #reportPause(): void {
    const requests = this.#allowed;
    this.#allowed = 0;
    this.#sent?.[Symbol.dispose]();
    this.#sent = undefined;
    const ageMs = this.#ageMs();
    if (ageMs < this.#times.leaseMs) return;
    this.#options.log.warn({ requests, renewedSecondsAgo: Math.round(ageMs / 1_000) }, PAUSED_WHILE_SENDING);
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random = Math.random } = this.#options;
    while (!signal.aborted) {
      if (await this.#try(this.#times.renewDeadlineMs, signal)) return true;
      const wait = this.#times.retryMs * (1 + this.#times.jitter * random());
      await clock.sleep(wait, signal).catch(() => undefined);
    }
    return false;
  }

  async #lead(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stopWork = new AbortController();
    const stopRenewing = new AbortController();
    const onStop = (): void => stopWork.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    if (signal.aborted) onStop();
    // Keep renewing while the work stops: if the lease expired, another leader would start too early.
    const renewing = this.#renew(stopRenewing.signal);
    const working = work(stopWork.signal);
    try {
      await Promise.race([working, renewing]);
    } catch (error) {
      this.#isLeading = false;
      stopWork.abort(error);
      if (error instanceof LeadershipLost) await this.#windDown(working);
      throw error;
    } finally {
      stopRenewing.abort();
      signal.removeEventListener('abort', onStop);
      await renewing.catch(() => undefined);
    }
  }

  /** Lets the work stop until another process can become the leader. */
  async #windDown(working: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _bound = this.#options.clock.after(this.#times.leaseMs - this.#times.renewDeadlineMs, resolve);
    await Promise.race([working.catch(() => undefined), promise]);
  }

  /** Resolves when the signal aborts. Rejects if the lease is lost. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, identity } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(this.#times.retryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const left = this.#times.renewDeadlineMs - (clock.monotonic() - this.#renewedAt);
      // At most half the deadline, so that a request that hangs leaves time for another attempt.
      const timeoutMs = Math.min(left, this.#times.renewDeadlineMs / 2);
      if (timeoutMs > 0 && (await this.#try(timeoutMs, signal))) continue;
      if (signal.aborted) return;
      const holder = this.#lease?.record.holder;
      if (holder !== identity)
        throw new LeadershipLost(holder ? `the lease was acquired by ${holder}` : 'another client released the lease');
      if (clock.monotonic() - this.#renewedAt < this.#times.renewDeadlineMs) continue;
      throw new LeadershipLost(`the lease was not renewed for ${this.#times.renewDeadlineMs / 1000} s`);
    }
  }

  /** Attempts to acquire or renew the lease. Never rejects. */
  async #try(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    // Other candidates wait from the time of the write, which may be as early as when the request was sent.
    const [sentAt, sentAtTime] = [clock.monotonic(), clock.now()];
    using limit = deadline(clock, timeoutMs, signal, 'the attempt to renew the lease');
    try {
      const attempt = this.#isOurs() ? this.#update(limit.signal) : this.#takeOver(limit.signal);
      const lease = await orAborted(attempt, limit.signal);
      this.#reachedAt = clock.monotonic();
      if (!lease) return false;
      this.#observe(lease);
      this.#renewedAt = sentAt;
      this.#renewedAtTime = sentAtTime;
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn({ error: messageOf(error) }, 'failed to acquire or renew the lease');
      return false;
    }
  }

  #isOurs(): boolean {
    return this.#lease?.record.holder === this.#options.identity;
  }

  /** Renews the known version of the lease. If it has changed, reads it. */
  async #update(signal: AbortSignal): Promise<Lease | undefined> {
    if (!this.#lease) return undefined;
    try {
      return await this.#options.leases.update(this.#record(this.#lease.record), this.#lease.resourceVersion, signal);
    } catch (error) {
      const { status } = failureOf(error);
      if (status !== 409 && status !== 404) throw error;
      // The change can be our own, by an attempt whose response was lost.
      return this.#takeOver(signal);
    }
  }

  async #takeOver(signal: AbortSignal): Promise<Lease | undefined> {
    const { leases } = this.#options;
    const seen = await leases.read(signal);
    if (seen) this.#observe(seen);
    // A lease that is deleted was not released: its holder may lead until it notices.
    const known = this.#lease?.record;
    const durationMs = seen ? this.#durationOf(seen.record) : this.#times.leaseMs;
    if (known && !this.#isOurs() && !isReleased(known) && !this.#hasExpired(durationMs)) return undefined;
    if (!seen) return leases.create(this.#record(undefined), signal);
    return leases.update(this.#record(seen.record), seen.resourceVersion, signal);
  }

  /** Not shorter than our own duration, whatever the record says, and not longer than a minute. */
  #durationOf({ durationSeconds }: LeaseRecord): number {
    return Math.min(Math.max(durationSeconds * 1_000 || 0, this.#times.leaseMs), LONGEST_LEASE_MS);
  }

  #hasExpired(durationMs: number): boolean {
    return this.#options.clock.monotonic() - this.#observedAt >= durationMs;
  }

  #observe(lease: Lease): void {
    if (lease.resourceVersion !== this.#lease?.resourceVersion) this.#observedAt = this.#options.clock.monotonic();
    this.#lease = lease;
  }

  #record(before: LeaseRecord | undefined): LeaseRecord {
    const { identity, clock } = this.#options;
    const now = clock.now();
    const keeps = before?.holder === identity;
    return {
      holder: identity,
      durationSeconds: Math.round(this.#times.leaseMs / 1000),
      acquireTime: keeps ? before.acquireTime : now,
      renewTime: now,
      transitions: before === undefined || keeps ? (before?.transitions ?? 0) : before.transitions + 1,
    };
  }

  /** Lets the next candidate start at once. If this fails, it waits until the lease expires. */
  async #release(): Promise<void> {
    const { clock, log } = this.#options;
    using limit = deadline(clock, this.#times.retryMs, new AbortController().signal, 'releasing the lease');
    try {
      const gaveUp = await orAborted(this.#giveUp(limit.signal), limit.signal);
      log.info(
        {},
        gaveUp ? 'released the lease' : 'did not release the lease, because this process no longer holds it',
      );
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'failed to release the lease; it expires');
    }
  }

  /** Returns false if another process holds the lease, or if it was deleted. */
  async #giveUp(signal: AbortSignal): Promise<boolean> {
    const { leases, clock } = this.#options;
    while (this.#lease && this.#isOurs()) {
      const { record, resourceVersion } = this.#lease;
      const now = clock.now();
      const released = { ...record, holder: '', durationSeconds: RELEASED_SECONDS, acquireTime: now, renewTime: now };
      try {
        await leases.update(released, resourceVersion, signal);
        return true;
      } catch (error) {
        if (failureOf(error).status !== 409) throw error;
        // The renewal that the stop interrupted can have been written.
        this.#lease = await leases.read(signal);
        if (this.#lease?.resourceVersion === resourceVersion) throw error;
      }
    }
    return false;
  }
}

/** Whether its holder gave the lease up, as client-go and this elector do: without a holder, for one second. */
function isReleased({ holder, durationSeconds }: LeaseRecord): boolean {
  return holder === '' && durationSeconds <= RELEASED_SECONDS;
}

/** Settles with the promise, or rejects when the signal aborts: a client that is slow to abort must not delay the loss of the lease. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
