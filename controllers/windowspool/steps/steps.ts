/** Every kind of step, and the questions that the rest of the domain asks about a step. */

import type { StepError } from '../model/stepError.ts';
import type { NodeStep, Step } from '../model/steps.ts';
import { disruptionSteps } from './disruptionSteps.ts';
import { nodeGroupSteps } from './nodeGroupSteps.ts';
import { nodeSteps } from './nodeSteps.ts';
import { poolSteps } from './poolSteps.ts';
import { runtimeClassSteps } from './runtimeClassSteps.ts';
import type { AnyStepKind, StepKinds } from './stepKind.ts';
import { windowsIpamSteps } from './windowsIpamSteps.ts';

/** A kind that has no record here does not compile. */
const stepKinds: StepKinds = {
  ...poolSteps,
  ...nodeGroupSteps,
  ...windowsIpamSteps,
  ...runtimeClassSteps,
  ...nodeSteps,
  ...disruptionSteps,
};

/** The record of a step's kind. */
export function stepKindOf(step: Step): AnyStepKind {
  return stepKinds[step.kind] as AnyStepKind;
}

/** The step as a sentence for status.pendingSteps; undefined for what only the operator's own status shows. */
export function describeStep(step: Step): string | undefined {
  return stepKindOf(step).describe?.(step);
}

/** Whether the step writes to AWS: such a step is only taken on what was read in the same reconcile. */
export function writesAws(step: Step): boolean {
  return stepKindOf(step).writesAws === true;
}

/** Whether it is an error of AWS, of a step or of a read. The rest are errors of the API server. */
export function isAwsError({ step }: Pick<StepError, 'step'>): boolean {
  return failedKind(step)?.writesAws === true || step.startsWith('describe');
}

/** Whether it is an error of a write to a node's metadata, taints or condition. */
export function isNodeWriteError({ step }: Pick<StepError, 'step'>): boolean {
  return failedKind(step)?.writesNode === true;
}

/** What a pool that is deleted with Retain left behind because such steps were refused, in words. */
export function describeLeftover(step: string, count: number): string {
  return failedKind(step)?.describeLeftover?.(count) ?? `could not do ${step}`;
}

/** The kind of the step that failed; undefined where a read did. */
function failedKind(step: string): AnyStepKind | undefined {
  return (stepKinds as unknown as Readonly<Record<string, AnyStepKind>>)[step];
}

/** Whether a node stays although somebody still wants it to go. */
export function isGivenUp(step: Step): boolean {
  return step.kind === 'uncordonNode' && step.answer !== undefined;
}

/** Whether another tool may undo the step. */
export function mayBeReverted(step: Step): boolean {
  return step.kind === 'applyCniConfig' && step.warning !== undefined;
}

export function isNodeStep(step: Step): step is NodeStep {
  return 'node' in step;
}
