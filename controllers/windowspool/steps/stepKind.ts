/** What a kind of step is: one record in this folder for each, which the functions of steps.ts read. */

import type { ObservedState } from '../model/observedState.ts';
import type { EvictionPass, Outcome } from '../model/outcome.ts';
import type { NodeStep, Step } from '../model/steps.ts';
import type { Writers } from '../model/writers.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Reason } from '../reasons.ts';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

/** The outcome after the step, and of a pass of a drain what it did; or why the step was not done. */
export type StepResult = (Outcome & Partial<EvictionPass>) | { readonly error: CallError };

type Run<S> = (step: S, soFar: Outcome, writers: Writers, signal: AbortSignal) => StepResult | Promise<StepResult>;

interface StepKind<S extends Step> {
  /** What the step is about: `node ip-1`. After a step that failed, others about the same object are skipped. */
  readonly subject: (step: S) => string;
  /** The step in words for status.pendingSteps and events; absent for what only the operator's own status shows. */
  readonly describe?: (step: S) => string | undefined;
  /** The reason of the event on the pool; absent: none. */
  readonly reason?: Reason;
  /** Whether it writes to AWS: such a step is taken only on what was read in the same reconcile. */
  readonly writesAws?: true;
  /** Whether nodes leave by it, one by one. */
  readonly takesNodes?: true;
  /** What a pool that is deleted with Retain could not remove, in words. `count`: how many such steps were refused. */
  readonly describeLeftover?: (count: number) => string;
  /** Carries it out by one port, or a few calls of it. */
  readonly run: Run<S>;
}

interface NodeStepKind<S extends NodeStep> extends StepKind<S> {
  /** One event for many nodes: `nodes` is `3 nodes`. */
  readonly describeMany: (nodes: string) => string;
  /** The reason of the event on the node; absent: none. */
  readonly nodeReason?: Reason;
  /** Whether it only changes metadata, taints or a condition of the node. */
  readonly writesNode?: true;
}

/** One record for each of these kinds. */
export type StepKinds<K extends Step['kind'] = Step['kind']> = {
  readonly [Kind in K]: StepOf<Kind> extends NodeStep ? NodeStepKind<StepOf<Kind>> : StepKind<StepOf<Kind>>;
};

/** A record that is looked up by the kind of a step: that its functions take this very step is not visible to the compiler. */
export type AnyStepKind = StepKind<Step> &
  Partial<Pick<NodeStepKind<NodeStep>, 'describeMany' | 'nodeReason' | 'writesNode'>>;

/** Turns the result of a call into that of a step. */
export function when<T>(result: CallResult<T>, next: (value: T) => Outcome & Partial<EvictionPass>): StepResult {
  return result.ok ? next(result.value) : { error: result.error };
}

/** The outcome with these parts of the observed state as they are after the step. */
export function changed(soFar: Outcome, change: Partial<Outcome['after']>): Outcome {
  return { ...soFar, after: { ...soFar.after, ...change } };
}

/** Carries out a step that changes nothing of what was observed: a watch brings its effect. */
export function unobserved<S>(
  call: (step: S, writers: Writers, signal: AbortSignal, s: ObservedState) => Promise<CallResult<unknown>>,
): Run<S> {
  return async (step, soFar, writers, signal) => when(await call(step, writers, signal, soFar.after), () => soFar);
}
