/** What is due for a pool: derived once from the observed state, and read by everything after. Plain data. */
import type { Capacity } from './capacity.ts';
import type { Admission } from './disruption.ts';
import type { ObservedState } from './observedState.ts';

/** Not part of a copy with changes, which must be derived again. */
export declare class Unchanged {
  protected readonly unchanged: true;
}

/** The observed state of a pool, with what is due. */
export interface Derived extends ObservedState, Unchanged {
  readonly due: Due;
}

/** What is due for a pool. A provider adds its own. */
export interface Due {
  /** How many nodes there should be, and which may leave. */
  readonly capacity: Capacity;
  /** The nodes that are requested to leave. */
  readonly nodes: Admission;
}
