/**
 * The only place that changes the world. Every step can be repeated; a crash between any two is harmless. Trouble with one thing
 * does not keep the others back: a step is skipped only when an earlier one about the same thing failed. `takeStep.ts` has what each step does.
 */

import { batchesOf, inParallel } from './batches.ts';
import { isLasting } from './facts.ts';
import { nameOf } from './operations/drain.ts';
import type { BlockedPod } from './operations/leavingSight.ts';
import type { Instances, ScalingGroups } from './ports/ec2.ts';
import type { NodeGroups, NodeGroupUpdate } from './ports/eks.ts';
import type { Nodes } from './ports/nodes.ts';
import type { Drains } from './ports/pods.ts';
import type { Pools } from './ports/pools.ts';
import type { AccessEntries, Addons, SystemObjects } from './ports/prerequisites.ts';
import type { RuntimeClasses } from './ports/runtimeClasses.ts';
import type { Situation, StepTrouble } from './situation.ts';
import { isNodeStep, type Step, unreachable } from './steps.ts';
import { takeStep } from './takeStep.ts';
import type { DisruptionBudget } from './upgrades/disruptionBudget.ts';

export interface Hands {
  readonly pools: Pools;
  readonly nodeGroups: NodeGroups;
  readonly scalingGroups: ScalingGroups;
  readonly accessEntries: AccessEntries;
  readonly addons: Addons;
  readonly system: SystemObjects;
  readonly runtimeClasses: RuntimeClasses;
  readonly nodes: Nodes;
  readonly instances: Instances;
  readonly drains: Drains;
  readonly budget: Pick<DisruptionBudget, 'claim'>;
}

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
  readonly after: Situation;
  readonly done: readonly Step[];
  readonly accepted: Accepted | undefined;
  /** The operator's marks that AWS would not let it take from a group that it leaves. */
  readonly left: readonly StepTrouble[];
  /** The pool is gone, or will be as soon as other finalizers are. */
  readonly released: boolean;
}

/** How many nodes are written to at once: a thousand take a second, and the API server has other clients. */
const NODES_AT_ONCE = 16;

/** Takes the steps in order, those about nodes beside each other. What went wrong is added to what went wrong before. */
export async function act(steps: readonly Step[], s: Situation, hands: Hands, signal: AbortSignal): Promise<Outcome> {
  const troubled = new Set<string>();
  const troubles: StepTrouble[] = [...s.troubles];
  const left: StepTrouble[] = [];
  const done: Step[] = [];
  const blocked: BlockedPod[] = [];
  let outcome: Outcome = { after: s, done, accepted: undefined, left, released: false };
  const tryTo = async (step: Step): Promise<void> => {
    signal.throwIfAborted();
    const about = subjectOf(step);
    if (troubled.has('pool') || troubled.has(about) || (isLast(step) && troubled.size > 0)) return;
    if (takesNodesAway(step) && isAtWork(outcome, troubles)) return;
    const result = await takeStep(step, outcome, hands, signal);
    const target = 'target' in step && { target: step.target };
    // What became of it takes the place of what was remembered.
    const before = target
      ? troubles.findIndex((entry) => entry.step === step.kind && entry.target === step.target)
      : -1;
    if (before >= 0) troubles.splice(before, 1);
    if ('trouble' in result) {
      // A node that ended meanwhile needs nothing.
      if (isNodeStep(step) && result.trouble.kind === 'gone') return;
      const entry = { at: s.now, step: step.kind, trouble: result.trouble, ...target };
      if (isLeaving(step) && isLasting(result.trouble)) left.push(entry);
      else {
        troubled.add(about);
        troubles.push(entry);
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
  return { ...outcome, after: withBlocked({ ...outcome.after, troubles }, done, blocked) };
}

/** Pods that were not asked to go this time are kept as they were last. */
function withBlocked(after: Situation, done: readonly Step[], blocked: readonly BlockedPod[]): Situation {
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

/** Steps by which single nodes go. */
function takesNodesAway({ kind }: Step): boolean {
  return ['cordonNode', 'evictPods', 'endInstance', 'endLateInstance'].includes(kind);
}

/** Whether EKS was just asked to work on the group, and may do so even where no answer came: nodes go on when it is done. */
function isAtWork({ accepted }: Outcome, troubles: readonly StepTrouble[]): boolean {
  const isOpen = ({ step, trouble }: StepTrouble) =>
    ['updateConfig', 'updateNodeGroupVersion'].includes(step) && trouble.kind === 'unavailable';
  return accepted !== undefined || troubles.some(isOpen);
}

function isLeaving(step: Step): boolean {
  return 'leaving' in step && step.leaving === true;
}

function subjectOf(step: Step): string {
  switch (step.kind) {
    case 'addFinalizer':
    case 'removeFinalizer':
      return 'pool';
    case 'remember':
    case 'claimDisruption':
    case 'adoptNodeGroup':
    case 'createAccessEntry':
    case 'createNodeGroup':
    case 'updateConfig':
    case 'updateNodeGroupVersion':
    case 'correctTags':
    case 'deleteNodeGroup':
      return 'nodeGroup';
    case 'updateAddon':
    case 'applyCniConfig':
      return 'Windows IPAM';
    case 'endLateInstance':
      return `instance ${step.entry.instance}`;
    case 'correctScalingTags':
      return `scaling group ${step.change.scalingGroup}`;
    case 'labelNode':
    case 'taintNode':
    case 'tellNode':
    case 'markNode':
    case 'releaseNode':
    case 'cordonNode':
    case 'evictPods':
    case 'endInstance':
    case 'restoreNode':
    case 'reportDrained':
      return `node ${step.node.name}`;
    case 'createRuntimeClass':
    case 'applyRuntimeClass':
      return `RuntimeClass ${step.wish.name}`;
    case 'releaseRuntimeClass':
    case 'deleteRuntimeClass':
      return `RuntimeClass ${step.seen.name}`;
    default:
      return unreachable(step);
  }
}
