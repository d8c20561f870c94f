/** A row of a table of cases: what is true, and the steps that follow, in words. */
import type { ObservedState } from '../../model/observedState.ts';

export interface PlanCase {
  readonly name: string;
  readonly observed: ObservedState;
  /** The steps as `stepInWords` says them, but for what nodes are told. */
  readonly want: readonly string[];
  /** What is shown as pending although the pool is not paused. */
  readonly later?: readonly string[];
  /** What nodes are told, as `name: status reason`, or `name: nothing`; not compared where it is left out. */
  readonly reported?: readonly string[];
}
