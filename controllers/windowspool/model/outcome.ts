/** The outcome of a plan. */
import type { NodeGroupUpdate } from '../ports/eks.ts';
import type { Decision } from './decisions.ts';
import type { BlockedPod } from './disruption.ts';
import type { Derived } from './due.ts';
import type { ObservedState } from './observedState.ts';
import type { StepError } from './stepError.ts';
import type { EvictPods, Step } from './steps.ts';

/** An update that EKS accepted. */
export interface Accepted {
  readonly update: NodeGroupUpdate;
  /** A hash of what was sent and of the desired state. */
  readonly target: string;
  /** A description of what was sent. */
  readonly change: string;
  /** The desired size of the spec, if it was sent. */
  readonly desired: number | undefined;
}

/**
 * A step of the plan that was not taken, because another step failed, because EKS was asked to update the group first, or because its node was deleted in
 * the meantime.
 */
export interface SkippedStep {
  readonly step: Step;
  readonly why: 'failure' | 'update' | 'gone';
}

/** The observed state after the steps, and what they did. */
export interface Outcome<S extends ObservedState = ObservedState> {
  /** The observed state after the steps, as far as their results show. */
  readonly after: S;
  readonly done: readonly Step[];
  readonly skipped: readonly SkippedStep[];
  readonly accepted: Accepted | undefined;
  /** The operator's marks on a retained group that AWS refused to remove. */
  readonly left: readonly StepError[];
  /** The finalizer was removed: the pool is deleted as soon as other finalizers are. */
  readonly released: boolean;
}

/** The outcome with what is due and what waits after it, for the report and the next run. */
export interface RunResult<D extends Derived = Derived> extends Outcome<D> {
  /** On the state after the steps. Only what waits is read of them. */
  readonly decisions: readonly Decision[];
}

/** What one eviction pass did. */
export interface EvictionPass {
  /** The step with the pods whose eviction was requested. */
  readonly took: EvictPods;
  /** Those that budgets or admission blocked. */
  readonly blocked: readonly BlockedPod[];
}

/** What the workqueue does with the pool: nothing, another run after a time, or one with exponential backoff; a cause is logged. */
export type ReconcileResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeueAfter'; readonly ms: number }
  | { readonly kind: 'requeue'; readonly cause?: string };
