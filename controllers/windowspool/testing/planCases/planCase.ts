/** A row of a table of cases: the observed state, and the descriptions of the steps that follow. */
import type { ObservedState } from '../../model/observedState.ts';

export interface PlanCase {
  readonly name: string;
  readonly observed: ObservedState;
  /** The steps as described by `stepInWords`, without conditions of nodes. */
  readonly want: readonly string[];
  /** The pending steps of a pool that is not paused. */
  readonly later?: readonly string[];
  /** Conditions of nodes, as `name: status reason`, or `name: nothing`; not compared if absent. */
  readonly nodeConditions?: readonly string[];
}
