/** What the recorder writes: JSON lines, a header and then one entry for each case. Recorders of other versions read it, so a change of it needs a new FORMAT. */

/** The version of the format. */
export const FORMAT = 1;

/** JSON data. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The first line. */
export interface Header {
  readonly format: number;
}

/**
 * The kinds of records.
 * - `step`, `pending`: a step of the plan, and one that is held.
 * - `call`: a call to AWS or to the API server, with its body. `answer` is what AWS answered, and an input.
 * - `status`: the fields of the status that a write changes.
 * - `event`: a Kubernetes event.
 * - `metrics`: the gauges of a pool, and the counters that were increased.
 * - `requeue`: when the pool runs again, as a result of its run.
 * - `run`: a run begins, and how long after the one before.
 * - `action`: what users, AWS and nodes do, with the state of the world afterwards. An input.
 * - `error`: an exception.
 */
export type Kind =
  | 'step'
  | 'pending'
  | 'call'
  | 'status'
  | 'event'
  | 'metrics'
  | 'requeue'
  | 'run'
  | 'action'
  | 'error';

/** One thing that the operator did or reported. */
export interface Observation {
  readonly kind: Kind;
  /** The kind of step, the operation, the reason of the event. */
  readonly name: string;
  /** The object, if there can be several: a pool, a node, a node group. */
  readonly of?: string;
  readonly data: { readonly [key: string]: Json };
  /** What a call to AWS returned, as a hash, or why a call failed. An input. */
  readonly answer?: Json;
}

/** One case. */
export interface Entry {
  /** The same in each version: `for a node group: grows`, `state 17 of seed 1`, `life 3 of seed 1`. */
  readonly name: string;
  /** What the operator gets. Entries are comparable only if it is equal. */
  readonly input: Json;
  /** In order. */
  readonly observations: readonly Observation[];
}
