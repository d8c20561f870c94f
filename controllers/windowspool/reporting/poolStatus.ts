/** The status of a pool, from the observed state after the steps. Pure. It also records what must survive a restart of the operator. */

import type { PendingStep, WindowsPoolStatus } from '../api/api.gen.ts';
import { LIST_LENGTH, STEP_LENGTH } from '../api/statusLimits.ts';
import { conditionRecords } from '../conditions/records.ts';
import { referring } from '../conditions/references.ts';
import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { HeldStep } from '../model/decisions.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome, RunResult } from '../model/outcome.ts';
import { countBuilds, revisionsOf } from '../nodes/kernels.ts';
import { foreignText } from '../ports/foreignText.ts';
import { providerOf } from '../providers/providers.ts';
import { pendingIn } from '../rules/heldSteps.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isOwner, runtimeClassFor } from '../runtimeClass/runtimeClass.ts';
import { describeStep } from '../steps/stepKinds.ts';
import { timeOf } from '../util/durations.ts';
import { count } from '../util/words.ts';

/** The longest texts that the schema accepts; the API server would reject the whole status otherwise. */
const CONDITION_LENGTH = 32_768;
const NODE_MESSAGE_LENGTH = 1_024;

/** The status to write. Equal states give equal statuses, except for transition times. */
export function statusFor(outcome: RunResult, assessment: ConditionSet, held: readonly HeldStep[]): WindowsPoolStatus {
  const s = outcome.after;
  const runtimeClass = runtimeClassName(outcome);
  const builds = countBuilds(s.poolNodes);
  const revisions = revisionsOf(s.pool, s.poolNodes);
  const failing = failingNodes(s);
  const { nodeGroup, karpenter, machines, existingNodes, checks, disruption, cluster, ...rest } = providerOf(
    s.pool,
  ).status(outcome);
  const tracking = { ...rest.tracking, ...conditionRecords(s, assessment) };
  const steps = pendingSteps(s, held);
  return {
    observedGeneration: s.pool.metadata.generation,
    conditions: conditionsFor(s, assessment),
    summary: summaryFor(s, assessment, builds),
    nodes: countNodes(s),
    ...(builds.length > 0 && { builds: builds.slice(0, LIST_LENGTH) }),
    ...(revisions && { revisions }),
    ...(failing.length > 0 && { failingNodes: failing }),
    ...(checks && { checks }),
    ...(nodeGroup && { nodeGroup }),
    ...(disruption && { disruption }),
    ...(karpenter && { karpenter }),
    ...(machines && { machines }),
    ...(existingNodes && { existingNodes }),
    ...(cluster && { cluster }),
    runtimeClass: { name: runtimeClass },
    ...(steps.length > 0 && {
      pendingSteps: steps.map((step) => ({ ...step, description: foreignText(step.description, STEP_LENGTH) })),
    }),
    ...(Object.keys(tracking).length > 0 && { tracking }),
  };
}

/** The steps that are held. While an answer is to be confirmed, no step is decided, and those in status stay. */
function pendingSteps(s: Derived, held: readonly HeldStep[]): readonly PendingStep[] {
  if (!providerOf(s.pool).isUnconfirmed?.(s)) return pendingIn(held, describeStep).slice(0, LIST_LENGTH);
  // An older operator wrote texts without a reason.
  return (s.pool.status?.pendingSteps ?? []).filter(({ description }) => description !== undefined);
}

/** The desired name, once the former RuntimeClass is released: until then its name must not be forgotten. */
function runtimeClassName({ after: { pool, formerRuntimeClass: former }, done }: Outcome): string {
  const isReleased = done.some(({ kind }) => kind === 'releaseRuntimeClass' || kind === 'deleteRuntimeClass');
  return former && isOwner(pool, former) && !isReleased ? former.name : runtimeClassFor(pool).name;
}

function conditionsFor(s: ObservedState, assessment: ConditionSet): NonNullable<WindowsPoolStatus['conditions']> {
  const before = s.pool.status?.conditions ?? [];
  const all = Object.entries(assessment) as [string, ConditionState][];
  return referring(all).map(([type, { status, reason, message }]) => {
    const old = before.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timeOf(s.now);
    return {
      type,
      status,
      observedGeneration: s.pool.metadata.generation,
      lastTransitionTime,
      reason,
      message: foreignText(message, CONDITION_LENGTH),
    };
  });
}

function countNodes(s: Derived): NonNullable<WindowsPoolStatus['nodes']> {
  const { poolNodes } = s;
  const desired = providerOf(s.pool).shownSize?.(s);
  return {
    ...(desired !== undefined && { desired }),
    total: poolNodes.total,
    ready: poolNodes.ready,
    verified: poolNodes.verified,
    joining: poolNodes.joining.length,
    failing: poolNodes.failing.length,
    gated: poolNodes.gated,
    quarantined: poolNodes.quarantined,
  };
}

function failingNodes(s: ObservedState): NonNullable<WindowsPoolStatus['failingNodes']> {
  return s.poolNodes.failing.slice(0, LIST_LENGTH).map(({ node, failures: [first] }) => {
    const reported = first?.reason === 'NoPodAddresses' ? providerOf(s.pool).explainNode?.(s, node.name) : undefined;
    const message = `${first?.message ?? ''}${reported ? `. ${reported}` : ''}`;
    return { name: node.name, reason: first?.reason ?? '', message: foreignText(message, NODE_MESSAGE_LENGTH) };
  });
}

function summaryFor(
  s: Derived,
  assessment: ConditionSet,
  builds: readonly { kernelVersion: string }[],
): NonNullable<WindowsPoolStatus['summary']> {
  const { desired, total, verified } = countNodes(s);
  const [first] = builds;
  return {
    reason: reasonShown(assessment),
    nodes: nodeSourceOf(s.pool).hasSize ? `${total}/${desired ?? '-'}` : String(total),
    verified: `${verified}/${total}`,
    ...(first && { build: builds.length === 1 ? first.kernelVersion : count(builds.length, 'build') }),
  };
}

/** The reason of Ready, what stalls a pool that is Ready, and whether it is paused: `Stalled:UpdateFailed,Paused`. */
function reasonShown({ Ready, Stalled, Paused }: ConditionSet): string {
  const reason = Ready.status === 'True' && Stalled ? `Stalled:${Stalled.reason}` : Ready.reason;
  return Paused ? `${reason},Paused` : reason;
}
