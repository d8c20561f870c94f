import type { WindowsPool } from '../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION, RETRY_ANNOTATION } from '../api/labels.ts';
import type { DrainState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import { isDeleting } from '../rules/poolQueries.ts';
import { SharedAnswers } from './sharedAnswers.ts';

/** What one read from outside the cluster returned for a pool. Each provider that reads there has its own. */
export interface Snapshot {
  /** Calls that were refused: not repeated before the next read. */
  readonly errors: readonly StepError[];
}

/** A snapshot, with what decides how long it is valid. */
export interface Read {
  readonly snapshot: Snapshot;
  /** Changes when another operation begins or ends outside the cluster. */
  readonly stage: string;
  /** The pool that has what this one asked for, and whose deletion makes another read due. */
  readonly holder?: string;
}

interface Entry extends Read {
  /** When it was read, in epoch milliseconds. */
  readonly at: number;
  readonly specKey: string;
  /** The annotation winpool.dev/retry at that time. */
  readonly retry: string | undefined;
  /** When this process first saw the stage, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/** How many reads of a pool may follow each other at once, and how long each of them takes to be available again, in milliseconds: at most this, and less if polls are frequent. */
const READS_AT_ONCE = 20;
const READ_COST_MS = 2_500;
const READS_PER_POLL = 8;

/** What a provider keeps in memory for all pools. */
interface ProcessState {
  /** Forgets a deleted pool. */
  forget?(pool: string): void;
}

/**
 * The last snapshot of each pool, so that node events cause no calls outside the cluster. Kept in memory only: after a restart, everything is read
 * again.
 */
export class ReadCache {
  readonly #entries = new Map<string, Entry>();
  /** Until when the reads of each pool are paid for, in epoch milliseconds. */
  readonly #paidUntil = new Map<string, number>();
  readonly #states = new Map<new () => ProcessState, ProcessState>();
  /** Answers that are the same for many pools. */
  readonly shared = new SharedAnswers();
  /** The last drain state of each pool. */
  readonly operations = new Map<string, DrainState>();
  /** When the last drain of each node began, by pool and UID, in epoch milliseconds. */
  readonly drained = new Map<string, ReadonlyMap<string, number>>();

  /** What a provider keeps in memory for all pools: the one object of this class, created when it is first needed. */
  of<T extends ProcessState>(State: new () => T): T {
    const known = this.#states.get(State) ?? new State();
    this.#states.set(State, known);
    return known as T;
  }

  /** The snapshot of a pool while it is valid: the spec is unchanged and the next read is not due. */
  current(pool: WindowsPool, now: number): Snapshot | undefined {
    const entry = this.#entries.get(pool.metadata.name);
    return entry?.specKey === specKeyOf(pool) && now < entry.until ? entry.snapshot : undefined;
  }

  /** The last snapshot of a pool, valid or not, and when it was read (epoch milliseconds). */
  last(name: string): { readonly snapshot: Snapshot; readonly at: number } | undefined {
    return this.#entries.get(name);
  }

  /**
   * The refused terminations of unregistered instances since a time (epoch milliseconds): reported after later reads too, until they are tried again.
   */
  refusedTerminations(pool: WindowsPool, since: number): readonly StepError[] {
    const entry = this.#entries.get(pool.metadata.name);
    if (entry?.specKey !== specKeyOf(pool)) return [];
    return entry.snapshot.errors.filter(({ step, at }) => step === 'terminateUnregistered' && at >= since);
  }

  /** Whether the user has changed the annotation winpool.dev/retry since the last read: the user may have changed what was read before. */
  isRetried(pool: WindowsPool): boolean {
    const entry = this.#entries.get(pool.metadata.name);
    return entry !== undefined && entry.retry !== retryIn(pool);
  }

  /** When the next read is due, in epoch milliseconds. */
  dueAt(name: string): number {
    return this.#entries.get(name)?.until ?? 0;
  }

  /**
   * Counts a read from outside the cluster for a pool. Returns the milliseconds to wait instead, if changes have caused many reads: a user who can edit a
   * pool, or a kubelet that changes its annotations, must not use up the calls of all pools.
   */
  countRead(name: string, pollMs: number, now: number): number {
    const costMs = Math.min(pollMs / READS_PER_POLL, READ_COST_MS);
    const paidUntil = Math.max(this.#paidUntil.get(name) ?? 0, now - READS_AT_ONCE * costMs) + costMs;
    if (paidUntil > now) return paidUntil - now;
    this.#paidUntil.set(name, paidUntil);
    return 0;
  }

  /** When this process first saw the pool at this stage, in epoch milliseconds. `begun`: another operation has begun that the stage may not show. */
  stageSince(name: string, stage: string, begun: boolean, now: number): number {
    const entry = this.#entries.get(name);
    return entry && !begun && entry.stage === stage ? entry.since : now;
  }

  /** Keeps what was read at `at` until the next read is due. Times are epoch milliseconds. */
  keep(
    pool: WindowsPool,
    read: Read,
    times: { readonly at: number; readonly since: number; readonly until: number },
  ): void {
    this.#entries.set(pool.metadata.name, { ...read, ...times, specKey: specKeyOf(pool), retry: retryIn(pool) });
  }

  /** Forgets a deleted pool, and the snapshots of pools that may have waited for it. */
  forget(name: string): void {
    this.#entries.delete(name);
    this.#paidUntil.delete(name);
    this.operations.delete(name);
    this.drained.delete(name);
    for (const state of this.#states.values()) state.forget?.(name);
    for (const [other, { holder }] of this.#entries) if (holder === name) this.#entries.delete(other);
  }
}

function retryIn({ metadata }: WindowsPool): string | undefined {
  return metadata.annotations?.[RETRY_ANNOTATION];
}

/** What the user sets: a change makes another read due. */
function specKeyOf(pool: WindowsPool): string {
  const { generation, annotations } = pool.metadata;
  return JSON.stringify([generation, isDeleting(pool), retryIn(pool), annotations?.[IGNORE_PREREQUISITES_ANNOTATION]]);
}
