/** Every kind of step, and questions that the domain asks about a step. */

import type { StepError } from '../model/stepError.ts';
import type { NodeStep, Step } from '../model/steps.ts';
import { providerSteps } from '../providers/providerSteps.ts';
import { inThePast } from '../util/words.ts';
import { disruptionSteps } from './disruptionSteps.ts';
import { nodePodSteps } from './nodePodSteps.ts';
import { nodeSteps } from './nodeSteps.ts';
import { poolSteps } from './poolSteps.ts';
import { reads } from './reads.ts';
import { runtimeClassSteps } from './runtimeClassSteps.ts';
import type { AnyStepKind, ReadFacts, StepKinds } from './stepKind.ts';

/** A kind of step without a record here does not compile. */
const stepKinds: StepKinds = {
  ...poolSteps,
  ...runtimeClassSteps,
  ...nodeSteps,
  ...nodePodSteps,
  ...disruptionSteps,
  ...providerSteps,
};

const kinds = { ...stepKinds, ...reads };

/** The record of a step's kind. */
export function stepKindOf(step: Step): AnyStepKind {
  return stepKinds[step.kind] as AnyStepKind;
}

/** A description of the step for status.pendingSteps; undefined for steps that only change the operator's own status. */
export function describeStep(step: Step): string | undefined {
  return stepKindOf(step).describe?.(step);
}

/** The description of a step that was done, for events: `created RuntimeClass web`, `started to drain the 2 nodes`. */
export function describeDone(step: Step, text = describeStep(step)): string | undefined {
  if (text === undefined) return undefined;
  return stepKindOf(step).onlyStarts ? `started to ${text}` : inThePast(text);
}

/** Whether the step requires a fresh read in the same run: EKS may have started an update since the last read. */
export function needsFreshRead(step: Step): boolean {
  const kind = stepKindOf(step);
  return kind.writesAws === true || kind.needsFreshRead === true;
}

/** Whether an error is that of a step, not of a read. */
export function isStep(step: StepError['step']): step is Step['kind'] {
  return step in stepKinds;
}

/** Whether a step or read failed with an error of AWS, not of the API server. */
export function isAwsError(entry: Failed): boolean {
  const { writesAws, readsAws } = failedKindOf(entry);
  return writesAws === true || readsAws === true;
}

/** Whether an update of the main group failed to start. */
export function isUpdateOfGroup(entry: Failed): boolean {
  const { startsUpdate, blocks } = failedKindOf(entry);
  return startsUpdate === true && blocks === 'nodeGroup';
}

/** Whether a write of a node's metadata, taints or condition failed. */
export function isNodeWriteError(entry: Failed): boolean {
  return failedKindOf(entry).writesNode === true;
}

/** Describes what a deleted pool with Retain leaves behind because such steps were refused. */
export function describeLeftover(step: StepError['step'], count: number): string {
  return failedKindOf({ step }).describeLeftover?.(count) ?? `could not complete ${step}`;
}

type Failed = Pick<StepError, 'step'>;

/** The record of the step or read that failed. */
export function failedKindOf({ step }: Failed): Partial<AnyStepKind> & ReadFacts {
  return kinds[step] as Partial<AnyStepKind> & ReadFacts;
}

/** The node whose steps do not wait for those of other nodes; undefined: the step waits for all steps before it. */
export function laneOf(step: Step): string | undefined {
  return step.kind === 'deleteNodePod' ? step.pod.node : isNodeStep(step) ? step.node.name : undefined;
}

/** Whether the step is about one node. */
export function isNodeStep(step: Step): step is NodeStep {
  return 'node' in step;
}
