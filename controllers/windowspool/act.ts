/**
 * The only place that changes the world. Every step can be repeated; a crash between any two is harmless. Trouble with one thing
 * does not keep the others back: a step is skipped only when an earlier one about the same thing failed. `takeStep.ts` has what each step does.
 */

import { nameOf } from './disruption/drain.ts';
import type { BlockedPod } from './model/disruption.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome } from './model/outcome.ts';
import type { StepError } from './model/stepError.ts';
import type { Step } from './model/steps.ts';
import type { Writers } from './model/writers.ts';
import { isLasting } from './queries.ts';
import { isNodeStep, stepKindOf } from './steps/steps.ts';
import { inParallel } from './util/inParallel.ts';

/** How many nodes are written to at once: a thousand take a second, and the API server has other clients. */
const NODES_AT_ONCE = 16;

/** Takes the steps in order, those about nodes beside each other. What went wrong is added to what went wrong before. */
export async function act(
  steps: readonly Step[],
  s: ObservedState,
  writers: Writers,
  signal: AbortSignal,
): Promise<Outcome> {
  const withError = new Set<string>();
  const errors: StepError[] = [...s.errors];
  const left: StepError[] = [];
  const done: Step[] = [];
  const blocked: BlockedPod[] = [];
  let outcome: Outcome = { after: s, done, accepted: undefined, left, released: false };
  const tryTo = async (step: Step): Promise<void> => {
    signal.throwIfAborted();
    const kind = stepKindOf(step);
    const about = kind.subject(step);
    if (withError.has('pool') || withError.has(about) || (isLast(step) && withError.size > 0)) return;
    if (kind.takesNodes && isAtWork(outcome, errors)) return;
    const result = await kind.run(step, outcome, writers, signal);
    const target = 'target' in step && { target: step.target };
    // What became of it takes the place of what was remembered.
    const before = target ? errors.findIndex((entry) => entry.step === step.kind && entry.target === step.target) : -1;
    if (before >= 0) errors.splice(before, 1);
    if ('error' in result) {
      // A node that ended meanwhile needs nothing.
      if (isNodeStep(step) && result.error.kind === 'gone') return;
      const entry = { at: s.now, step: step.kind, error: result.error, ...target };
      if (isLeaving(step) && isLasting(result.error)) left.push(entry);
      else {
        withError.add(about);
        errors.push(entry);
      }
    } else {
      // Nothing that a step about a node does is part of the outcome, so it does not matter which of them ends last.
      if (!isNodeStep(step)) outcome = result;
      blocked.push(...(result.blocked ?? []));
      done.push(result.took ?? step);
    }
  };
  for (const batch of batchesOf(steps)) {
    await inParallel(batch, NODES_AT_ONCE, async (inOrder) => {
      for (const step of inOrder) await tryTo(step);
    });
    // EKS works on the group now; the rest follows when it is done.
    const last = done.at(-1);
    if (last?.kind === 'updateConfig' && isLeaving(last)) break;
  }
  return { ...outcome, after: withBlocked({ ...outcome.after, errors }, done, blocked) };
}

/** Pods that were not asked to go this time are kept as they were last. */
function withBlocked(after: ObservedState, done: readonly Step[], blocked: readonly BlockedPod[]): ObservedState {
  const { operations } = after;
  if (!operations?.fresh) return after;
  const asked = new Set(
    done.flatMap((step) => (step.kind === 'evictPods' ? step.evictions.map(({ pod }) => nameOf(pod)) : [])),
  );
  const going = operations.nodes.map(({ entry }) => entry.name);
  const kept = operations.blocked.filter((pod) => going.includes(pod.node) && !asked.has(nameOf(pod)));
  return { ...after, operations: { ...operations, blocked: [...kept, ...blocked] } };
}

/** What goes last, and only when all else went well: the finalizer, and the tags by which the nodes of a group that is left are found. */
function isLast(step: Step): boolean {
  return step.kind === 'removeFinalizer' || (step.kind === 'correctTags' && isLeaving(step));
}

/** Whether EKS was just asked to work on the group, and may do so even where no answer came: nodes go on when it is done. */
function isAtWork({ accepted }: Outcome, errors: readonly StepError[]): boolean {
  const isOpen = ({ step, error }: StepError) =>
    ['updateConfig', 'updateNodeGroupVersion'].includes(step) && error.kind === 'unavailable';
  return accepted !== undefined || errors.some(isOpen);
}

function isLeaving(step: Step): boolean {
  return 'retain' in step && step.retain === true;
}

/** The steps in order, as lists that may be taken beside each other: one for each node, and each other step alone. */
function batchesOf(steps: readonly Step[]): (readonly Step[])[][] {
  const batches: (readonly Step[])[][] = [];
  let nodes: Map<string, Step[]> | undefined;
  for (const step of steps) {
    if (!isNodeStep(step)) {
      nodes = undefined;
      batches.push([[step]]);
      continue;
    }
    const known = nodes?.get(step.node.name);
    if (known) known.push(step);
    else {
      const list = [step];
      if (nodes) batches.at(-1)?.push(list);
      else batches.push([list]);
      nodes = (nodes ?? new Map<string, Step[]>()).set(step.node.name, list);
    }
  }
  return batches;
}
