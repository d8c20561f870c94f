/**
 * How sure an observation of AWS is: one odd answer is no fact. An answer that contradicts what was known changes nothing until a second request, some
 * time later, gets the same. Pure.
 */

/**
 * How an answer contradicts what was known:
 * - `absent`: what existed is not found
 * - `unowned`: what was the pool's does not have its tag
 * - `empty`: a list of instances is shorter than that of the pool's Ready nodes
 * - `clusterAbsent`: the cluster of the pool is not found
 * - `groupFailed`: a group could not be created or deleted, and status has another state of it
 * - `unrecorded`: the pool has a second group that its status does not record
 */
export type Contradiction = 'absent' | 'unowned' | 'empty' | 'clusterAbsent' | 'groupFailed' | 'unrecorded';

/**
 * How sure an observation is:
 * - `seen`: it fits what was known, or nothing was
 * - `seenOnce`: it contradicts what was known, and no later request has confirmed it
 * - `confirmed`: two requests got the same contradiction
 * - `unknown`: the request failed
 */
export type Certainty = { readonly kind: 'seen' | 'unknown' } | SeenOnce | Confirmed;

interface Contradicted {
  readonly contradiction: Contradiction;
  /** When the first of the requests that got this answer was sent, in epoch milliseconds. */
  readonly since: number;
}

/** A contradiction that is no fact yet. */
export interface SeenOnce extends Contradicted {
  readonly kind: 'seenOnce';
}

/** A contradiction that is a fact. */
export interface Confirmed extends Contradicted {
  readonly kind: 'confirmed';
}

/** What a request showed: something that fits what was known, a contradiction, or nothing, because it failed. */
export type Finding = 'fits' | Contradiction | 'failed';

/**
 * How sure an observation is after a request that was sent at `now`. Call it once for each request: a run that uses a cached answer keeps its certainty.
 *
 * A failed request forgets what was seen once. This costs another wait of `confirmAfterMs`. Otherwise an outage of AWS, which mixes errors with wrong
 * answers, could confirm one.
 */
export function nextCertainty(
  before: Certainty | undefined,
  finding: Finding,
  now: number,
  confirmAfterMs: number,
): Certainty {
  if (finding === 'fits') return { kind: 'seen' };
  if (finding === 'failed') return { kind: 'unknown' };
  const isRepeated = before !== undefined && 'since' in before && before.contradiction === finding;
  if (!isRepeated) return { kind: 'seenOnce', contradiction: finding, since: now };
  const isLater = now - before.since >= confirmAfterMs;
  return isLater ? { ...before, kind: 'confirmed' } : before;
}
