/**
 * Carries out the steps of a plan: the only path by which a reconcile writes to AWS and to objects other than the pool's status and events. Every
 * step is idempotent, and a crash between any two is harmless. After a step fails, only later steps with the same subject are skipped. What each
 * kind of step does is in steps/.
 */

import { nameOf } from './disruption/drain.ts';
import type { BlockedPod } from './model/disruption.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome, SkippedStep } from './model/outcome.ts';
import type { StepError } from './model/stepError.ts';
import type { Step } from './model/steps.ts';
import type { Writers } from './model/writers.ts';
import { isLasting } from './rules/poolQueries.ts';
import { isNodeStep, isUpdateOfGroup, laneOf, stepKindOf } from './steps/stepKinds.ts';
import { inParallel } from './util/inParallel.ts';

/** How many nodes are written to at once: a thousand nodes take about a second, and the API server has other clients. */
const NODES_AT_ONCE = 16;

/** Takes the steps in order, and those of different nodes in parallel. Errors are added to those of the observed state. */
export async function act<S extends ObservedState>(
  steps: readonly Step[],
  s: S,
  writers: Writers,
  signal: AbortSignal,
): Promise<Outcome<S>> {
  const withError = new Set<string>();
  const errors: StepError[] = [...s.errors];
  const left: StepError[] = [];
  const done: Step[] = [];
  const skipped: SkippedStep[] = [];
  const blocked: BlockedPod[] = [];
  let outcome: Outcome<S> = { after: s, done, skipped, accepted: undefined, left, released: false };
  const tryTo = async (step: Step): Promise<void> => {
    signal.throwIfAborted();
    const kind = stepKindOf(step);
    const about = kind.subject(step);
    const isStopped = withError.has('pool') || withError.has(about) || (isLast(step) && withError.size > 0);
    const waits = isRelease(done.at(-1)) || (kind.takesNodes && isUpdating(outcome, errors));
    const why = isStopped ? 'failure' : waits ? 'update' : undefined;
    if (why) {
      skipped.push({ step, why });
      return;
    }
    const result = await kind.run(step, outcome, writers, signal);
    const target = 'target' in step && { target: step.target };
    // The result replaces the remembered error.
    const before = target ? errors.findIndex((entry) => entry.step === step.kind && entry.target === step.target) : -1;
    if (before >= 0) errors.splice(before, 1);
    if ('error' in result) {
      // A node that was deleted in the meantime needs nothing.
      if (isNodeStep(step) && result.error.kind === 'gone') {
        skipped.push({ step, why: 'gone' });
        return;
      }
      const entry = { at: s.now, step: step.kind, error: result.error, ...target };
      if (isRetained(step) && isLasting(result.error)) left.push(entry);
      else {
        withError.add(about);
        errors.push(entry);
      }
    } else {
      // Steps of different nodes run in parallel and change nothing in the outcome, so their order of completion does not matter.
      if (laneOf(step) === undefined) outcome = result as Outcome<S>;
      blocked.push(...(result.blocked ?? []));
      done.push(result.took ?? step);
    }
  };
  for (const batch of batchesOf(steps)) {
    await inParallel(batch, NODES_AT_ONCE, async (inOrder) => {
      for (const step of inOrder) await tryTo(step);
    });
  }
  return { ...outcome, after: withBlocked({ ...outcome.after, errors }, done, blocked) };
}

/** Pods whose eviction was not requested in this run keep their last result. */
function withBlocked<S extends ObservedState>(after: S, done: readonly Step[], blocked: readonly BlockedPod[]): S {
  const { operations } = after;
  if (!operations?.fresh) return after;
  const asked = new Set(
    done.flatMap((step) => (step.kind === 'evictPods' ? step.evictions.map(({ pod }) => nameOf(pod)) : [])),
  );
  const going = operations.nodes.map(({ entry }) => entry.name);
  const kept = operations.blocked.filter((pod) => going.includes(pod.node) && !asked.has(nameOf(pod)));
  return { ...after, operations: { ...operations, blocked: [...kept, ...blocked] } };
}

/** Whether the step goes last, and only when nothing failed. */
function isLast(step: Step): boolean {
  return stepKindOf(step).isLast?.(step) === true;
}

/** Whether EKS is updating the retained group now: the remaining steps follow when it is done. */
function isRelease(last: Step | undefined): boolean {
  return last !== undefined && stepKindOf(last).startsUpdate === true && isRetained(last);
}

/** Whether EKS was asked to update the group, even if no response came: steps that take nodes wait until the update is done. */
function isUpdating({ accepted }: Outcome, errors: readonly StepError[]): boolean {
  const isOpen = (entry: StepError) => isUpdateOfGroup(entry) && entry.error.kind === 'unavailable';
  return accepted !== undefined || errors.some(isOpen);
}

function isRetained(step: Step): boolean {
  return 'retain' in step && step.retain === true;
}

/**
 * Groups the steps into batches that run one after the other. The lists of a batch run in parallel: one list for each node; any other step is a batch
 * of its own.
 */
function batchesOf(steps: readonly Step[]): (readonly Step[])[][] {
  const batches: (readonly Step[])[][] = [];
  let nodes: Map<string, Step[]> | undefined;
  for (const step of steps) {
    const node = laneOf(step);
    if (node === undefined) {
      nodes = undefined;
      batches.push([[step]]);
      continue;
    }
    const known = nodes?.get(node);
    if (known) known.push(step);
    else {
      const list = [step];
      if (nodes) batches.at(-1)?.push(list);
      else batches.push([list]);
      nodes = (nodes ?? new Map<string, Step[]>()).set(node, list);
    }
  }
  return batches;
}
