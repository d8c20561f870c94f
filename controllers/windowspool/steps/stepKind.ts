/** The definition of a kind of step: one record for each, which the functions of stepKinds.ts read. */

import type { Reason } from '../api/reasons.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { EvictionPass, Outcome } from '../model/outcome.ts';
import type { NodeStep, Step } from '../model/steps.ts';
import type { Writers } from '../model/writers.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

/** The outcome after the step, with the results of an eviction pass; or the error of the step. */
export type StepResult = (Outcome & Partial<EvictionPass>) | { readonly error: CallError };

/** The facts about a step or a read that matter when it fails. */
interface FailureFacts {
  /** What waits until it succeeds, and reports its error; absent: none of these. The second group is one that is replaced, or a canary. */
  readonly blocks?: 'nodeGroup' | 'secondNodeGroup' | 'launchTemplate' | 'runtimeClass' | 'drain';
  /** Whether it is not tried again before the next read of AWS, although it is a call of the API server. */
  readonly waitsForRead?: true;
}

/** The facts about a read whose error is kept. */
export interface ReadFacts extends FailureFacts {
  /** Whether it reads from AWS, and not from the API server. */
  readonly readsAws?: true;
}

interface StepKind<S extends Step> extends FailureFacts {
  /** The subject of the step: `node ip-1`. After a step fails, later steps with the same subject are skipped. */
  readonly subject: (step: S) => string;
  /** Describes the step in status.pendingSteps, with a verb in the imperative at the start; absent for steps that only change the operator's own status. */
  readonly describe?: (step: S) => string | undefined;
  /** Whether it only starts what takes longer: its event says so. */
  readonly onlyStarts?: true;
  /** The reason of the event on the pool; absent: no event. */
  readonly reason?: Reason;
  /** Whether the event is a warning: a request was given up, or another tool may revert the step. */
  readonly isWarning?: (step: S) => boolean;
  /** Whether it writes to AWS: such a step requires a fresh read in the same run. */
  readonly writesAws?: true;
  /**
   * Whether it requires such a read although it does not write to AWS: it decides what is written there next, takes a share of the disruption budget,
   * or changes a setting of the cluster.
   */
  readonly needsFreshRead?: true;
  /** Whether EKS starts an update of the main group or of an add-on. It rejects that while it works on the group or upgrades the cluster. */
  readonly startsUpdate?: true;
  /** Whether it brings the node group closer to the spec, if necessary on a canary first: status.pendingSteps has it even before it is planned. */
  readonly appliesSpec?: true;
  /** Whether the status need not be written at once after it: it follows from the same change of a node as the status. */
  readonly statusCanWait?: true;
  /** Whether it takes a share of the disruption budget. One step of a run does: a second one would hide the first. */
  readonly reserves?: true;
  /** Whether all other steps follow in the next run. */
  readonly goesFirst?: true;
  /** Whether it goes last, and only when nothing failed. */
  readonly isLast?: (step: S) => boolean;
  /** Whether it disrupts nodes one at a time. */
  readonly takesNodes?: true;
  /** Describes what a deleted pool with Retain could not remove. `count`: how many such steps were refused. */
  readonly describeLeftover?: (count: number) => string;
  /** Carries out the step with one or a few calls of a port. */
  run(step: S, outcome: Outcome, writers: Writers, signal: AbortSignal): StepResult | Promise<StepResult>;
}

interface NodeStepKind<S extends NodeStep> extends StepKind<S> {
  /** Describes one event for many nodes: `nodes` is `3 nodes`. */
  readonly describeMany: (nodes: string) => string;
  /** The reason of the event on the node; absent: no event. */
  readonly nodeReason?: Reason;
  /** Whether it only changes metadata, taints or a condition of the node. */
  readonly writesNode?: true;
}

/** One record for each of these kinds of steps. */
export type StepKinds<K extends Step['kind'] = Step['kind']> = {
  readonly [Kind in K]: StepOf<Kind> extends NodeStep ? NodeStepKind<StepOf<Kind>> : StepKind<StepOf<Kind>>;
};

/** A record that is looked up by step kind: the compiler cannot know that its functions accept this step. */
export type AnyStepKind = StepKind<Step> &
  Partial<Pick<NodeStepKind<NodeStep>, 'describeMany' | 'nodeReason' | 'writesNode'>>;

/** Converts the result of a call into the result of a step. */
export function when<T>(result: CallResult<T>, next: (value: T) => Outcome & Partial<EvictionPass>): StepResult {
  return result.ok ? next(result.value) : { error: result.error };
}

/** The outcome with parts of the observed state replaced. */
export function changed<S extends ObservedState>(outcome: Outcome<S>, change: Partial<S>): Outcome<S> {
  return { ...outcome, after: { ...outcome.after, ...change } };
}

/** Carries out a step that leaves the observed state as it is: its effect comes back through a watch. */
export function unobserved<S>(
  call: (step: S, writers: Writers, signal: AbortSignal, s: ObservedState) => Promise<CallResult<unknown>>,
): (step: S, outcome: Outcome, writers: Writers, signal: AbortSignal) => Promise<StepResult> {
  return async (step, outcome, writers, signal) =>
    when(await call(step, writers, signal, outcome.after), () => outcome);
}
