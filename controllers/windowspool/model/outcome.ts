/** What carrying out a plan led to. */
import type { NodeGroupUpdate } from '../ports/eks.ts';
import type { BlockedPod } from './disruption.ts';
import type { ObservedState } from './observedState.ts';
import type { StepError } from './stepError.ts';
import type { EvictPods, Step } from './steps.ts';

/** An update that EKS took on. */
export interface Accepted {
  readonly update: NodeGroupUpdate;
  /** A hash of what was sent and what it is to reach. */
  readonly target: string;
  /** What was sent, in words. */
  readonly change: string;
  /** The desired size of the spec, if it was sent. */
  readonly desired: number | undefined;
}

/** What the steps made of the situation. */
export interface Outcome {
  /** The situation after the steps, as far as their answers tell. */
  readonly after: ObservedState;
  readonly done: readonly Step[];
  readonly accepted: Accepted | undefined;
  /** The operator's marks that AWS would not let it take from a group that it leaves. */
  readonly left: readonly StepError[];
  /** The pool is gone, or will be as soon as other finalizers are. */
  readonly released: boolean;
}

/** What a pass did. */
export interface EvictionPass {
  /** The step with the pods that were asked. */
  readonly took: EvictPods;
  /** Those of them that budgets or admission kept. */
  readonly blocked: readonly BlockedPod[];
}

/** What the queue does with the pool: nothing, another run after a while, or one with growing delays; a cause is logged. */
export type ReconcileResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeueAfter'; readonly ms: number }
  | { readonly kind: 'requeue'; readonly cause?: string };
