/**
 * The only place that changes the world. Every step can be repeated; a crash between any two is harmless. Trouble with one thing
 * does not keep the others back: a step is skipped only when an earlier one about the same thing failed.
 */

import type { WindowsPool } from './api.gen.ts';
import { isLasting } from './facts.ts';
import { ownershipTag } from './nodeGroup/adoption.ts';
import { remembering } from './nodeGroup/applied.ts';
import { changedTags, type ScalingTagChange } from './nodeGroup/autoscalerTags.ts';
import { WINDOWS_BUILD_LABEL } from './nodes/windows.ts';
import { scalingIn } from './poolKind.ts';
import type {
  Answer,
  NodeGroup,
  NodeGroupStatus,
  NodeGroups,
  NodeGroupUpdate,
  Nodes,
  Pools,
  RuntimeClasses,
  ScalingGroups,
  Trouble,
} from './ports.ts';
import type { AccessEntries } from './prerequisites/ports.ts';
import type { GroupSight, Situation, StepTrouble } from './situation.ts';
import { describeConfigStep, describeVersionChange, isNodeStep, type Step, unreachable } from './steps.ts';
import type { DisruptionBudget } from './upgrades/disruptionBudget.ts';

export interface Hands {
  readonly pools: Pools;
  readonly nodeGroups: NodeGroups;
  readonly scalingGroups: ScalingGroups;
  readonly accessEntries: AccessEntries;
  readonly runtimeClasses: RuntimeClasses;
  readonly nodes: Nodes;
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
  let outcome: Outcome = { after: s, done, accepted: undefined, left, released: false };
  const tryTo = async (step: Step): Promise<void> => {
    signal.throwIfAborted();
    const about = subjectOf(step);
    if (troubled.has('pool') || troubled.has(about) || (isLast(step) && troubled.size > 0)) return;
    const result = await take(step, outcome, hands, signal);
    if ('trouble' in result) {
      // A node that ended meanwhile needs nothing.
      if (isNodeStep(step) && result.trouble.kind === 'gone') return;
      const target = 'target' in step && { target: step.target };
      const entry = { at: s.now, step: step.kind, trouble: result.trouble, ...target };
      if (isLeaving(step) && isLasting(result.trouble)) left.push(entry);
      else {
        troubled.add(about);
        troubles.push(entry);
      }
    } else {
      // Nothing that a step about a node does is part of the outcome, so it does not matter which of them ends last.
      if (!isNodeStep(step)) outcome = result;
      done.push(step);
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
  return { ...outcome, after: { ...outcome.after, troubles } };
}

/** What goes last, and only when all else went well: the finalizer, and the tags by which the nodes of a group that is left are found. */
function isLast(step: Step): boolean {
  return step.kind === 'removeFinalizer' || (step.kind === 'correctTags' && isLeaving(step));
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

/** Does the work on all items, on `limit` of them at a time. After a throw no more are begun. */
async function inParallel<T>(items: readonly T[], limit: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await work(item);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
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
    case 'correctScalingTags':
      return `scaling group ${step.change.scalingGroup}`;
    case 'labelNode':
    case 'taintNode':
    case 'tellNode':
    case 'markNode':
    case 'releaseNode':
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

type Result = Outcome | { readonly trouble: Trouble };

async function take(step: Step, soFar: Outcome, hands: Hands, signal: AbortSignal): Promise<Result> {
  const { pool } = soFar.after;
  const changed = (change: Partial<Situation>): Outcome => ({ ...soFar, after: { ...soFar.after, ...change } });
  switch (step.kind) {
    case 'addFinalizer':
      return when(await hands.pools.addFinalizer(pool, signal), (value) => changed({ pool: value }));
    case 'removeFinalizer':
      return when(await hands.pools.removeFinalizer(pool, signal), () => ({ ...soFar, released: true }));
    case 'remember': {
      const status = remembering(pool.status, step.memory);
      return when(await hands.pools.writeStatus(pool, status, signal), (value) => changed({ pool: value }));
    }
    case 'claimDisruption': {
      const status = remembering(pool.status, step.memory);
      return when(await hands.budget.claim(pool, status, signal), (value) => changed({ pool: value }));
    }
    case 'adoptNodeGroup': {
      const tags = ownershipTag(pool);
      return when(await hands.nodeGroups.tag(step.group.arn, tags, signal), () =>
        changed({ group: withTags(soFar.after.group, { ...step.group.tags, ...tags }) }),
      );
    }
    case 'createAccessEntry':
      return when(await hands.accessEntries.create(step.role, step.token, signal), () => withAccessEntry(soFar));
    case 'createNodeGroup':
      return when(await hands.nodeGroups.create(step.wish, step.token, signal), (group) =>
        changed({ group: { kind: 'seen', group } }),
      );
    case 'updateConfig':
      return when(await hands.nodeGroups.updateConfig(step.group, step.change, step.token, signal), (update) => ({
        ...changed({ group: withStatus(soFar.after.group, 'UPDATING') }),
        accepted: {
          update,
          target: step.target,
          change: describeConfigStep(step),
          desired: desiredOf(step, pool),
        },
      }));
    case 'updateNodeGroupVersion':
      return when(await hands.nodeGroups.updateVersion(step.group, step.change, step.token, signal), (update) => ({
        ...changed({ group: withStatus(soFar.after.group, 'UPDATING') }),
        accepted: {
          update,
          target: step.target,
          change: describeVersionChange(step.change),
          desired: undefined,
        },
      }));
    case 'correctTags':
      return when(await correctTags(step, hands, signal), (tags) =>
        changed({ group: withTags(soFar.after.group, tags) }),
      );
    case 'correctScalingTags':
      return when(await correctScalingTags(step.change, hands, signal), () =>
        changed({ autoscaler: withScalingTags(soFar.after.autoscaler, step.change) }),
      );
    case 'deleteNodeGroup':
      return when(await hands.nodeGroups.delete(step.group, signal), () =>
        changed({ group: withStatus(soFar.after.group, 'DELETING') }),
      );
    case 'createRuntimeClass':
      return when(await hands.runtimeClasses.create(step.wish, pool, signal), () => soFar);
    case 'applyRuntimeClass':
      return when(await hands.runtimeClasses.apply(step.wish, step.seen, pool, signal), () => soFar);
    case 'releaseRuntimeClass':
      return when(await hands.runtimeClasses.release(step.seen, pool, signal), () => soFar);
    case 'deleteRuntimeClass':
      return when(await hands.runtimeClasses.delete(step.seen, signal), () => soFar);
    case 'labelNode':
      return when(await hands.nodes.setLabel(step.node, WINDOWS_BUILD_LABEL, step.build, signal), () => soFar);
    case 'taintNode':
      return when(await hands.nodes.setTaints(step.node, step.change, signal), () => soFar);
    case 'markNode':
    case 'releaseNode':
      return when(await hands.nodes.setMarks(step.node, step.change, signal), () => soFar);
    case 'tellNode':
      return when(await hands.nodes.setVerified(step.node, step.condition, soFar.after.now, signal), () => soFar);
    default:
      return unreachable(step);
  }
}

function when<T>(answer: Answer<T>, next: (value: T) => Outcome): Result {
  return answer.ok ? next(answer.value) : { trouble: answer.trouble };
}

function withAccessEntry(soFar: Outcome): Outcome {
  const { prerequisites } = soFar.after;
  if (!prerequisites) return soFar;
  const accessEntry = { ok: true, value: { type: 'EC2_WINDOWS' } } as const;
  return { ...soFar, after: { ...soFar.after, prerequisites: { ...prerequisites, accessEntry } } };
}

/** The group as EKS will show it from now on. */
function withStatus(sight: GroupSight, status: NodeGroupStatus): GroupSight {
  return sight.kind === 'seen' ? { kind: 'seen', group: { ...sight.group, status } } : sight;
}

function withTags(sight: GroupSight, tags: NodeGroup['tags']): GroupSight {
  return sight.kind === 'seen' ? { kind: 'seen', group: { ...sight.group, tags } } : sight;
}

/** What the cluster-autoscaler knows from now on. */
function withScalingTags(known: Situation['autoscaler'], change: ScalingTagChange): Situation['autoscaler'] {
  const { [change.scalingGroup]: found, ...others } = known?.tags ?? {};
  return known && { ...known, tags: { ...others, [change.scalingGroup]: changedTags(found ?? {}, change) } };
}

async function correctScalingTags(
  { scalingGroup, set, remove }: ScalingTagChange,
  { scalingGroups }: Hands,
  signal: AbortSignal,
): Promise<Answer<void>> {
  if (Object.keys(set).length > 0) {
    const answer = await scalingGroups.setTags(scalingGroup, set, signal);
    if (!answer.ok) return answer;
  }
  return remove.length > 0 ? scalingGroups.removeTags(scalingGroup, remove, signal) : { ok: true, value: undefined };
}

/** A size that was only lifted or lowered into the bounds is not the user's: that one is not sent again. */
function desiredOf({ change }: Extract<Step, { kind: 'updateConfig' }>, pool: WindowsPool): number | undefined {
  return change.scaling?.desired === scalingIn(pool.spec).desired ? change.scaling?.desired : undefined;
}

/** The tags as they are afterwards. */
async function correctTags(
  { group, change }: Extract<Step, { kind: 'correctTags' }>,
  { nodeGroups }: Hands,
  signal: AbortSignal,
): Promise<Answer<NodeGroup['tags']>> {
  if (Object.keys(change.set).length > 0) {
    const answer = await nodeGroups.tag(group.arn, change.set, signal);
    if (!answer.ok) return answer;
  }
  if (change.remove.length > 0) {
    const answer = await nodeGroups.untag(group.arn, change.remove, signal);
    if (!answer.ok) return answer;
  }
  const kept = Object.entries(group.tags).filter(([key]) => !change.remove.includes(key));
  return { ok: true, value: { ...Object.fromEntries(kept), ...change.set } };
}
