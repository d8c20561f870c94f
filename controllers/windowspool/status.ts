/** The status of a pool, from the situation after the steps. Pure. It is also the operator's memory: what must survive a restart. */

import type { Outcome } from './act.ts';
import type { NodeGroupState, WindowsPoolStatus } from './api.gen.ts';
import type { Assessment, Finding } from './assess.ts';
import { configTargetOf, isOwnedBy, nodeGroupNameOf, tagKeysFor } from './nodeGroup.ts';
import { createdFrom } from './plan.ts';
import type { NodeGroup, Trouble } from './ports.ts';
import { runtimeClassFor } from './runtimeClass.ts';
import type { Situation } from './situation.ts';
import { describeStep, type Step } from './steps.ts';
import type { Verdict } from './verify.ts';
import { count } from './words.ts';

/** Lists in status are cut here; the counts beside them are of all. */
const LIST_LENGTH = 20;

const MESSAGE_LENGTH = 1024;

/** The status to write. Equal situations give equal statuses, except for the times of transitions. */
export function statusFor(outcome: Outcome, assessment: Assessment, pending: readonly Step[]): WindowsPoolStatus {
  const s = outcome.after;
  const wish = runtimeClassFor(s.pool);
  const builds = countBuilds(s.verdicts);
  const steps = pending.map(describeStep).filter((text) => text !== undefined);
  return {
    observedGeneration: s.pool.metadata.generation,
    conditions: conditionsFor(s, assessment),
    summary: summaryFor(s, builds),
    nodes: countNodes(s),
    builds: builds.slice(0, LIST_LENGTH),
    failingNodes: failingNodes(s.verdicts),
    nodeGroup: nodeGroupState(outcome),
    ...(s.pool.status?.cluster && { cluster: s.pool.status.cluster }),
    ...(wish && { runtimeClass: { name: wish.name } }),
    ...(steps.length > 0 && { pendingSteps: steps.slice(0, LIST_LENGTH) }),
  };
}

function conditionsFor(s: Situation, assessment: Assessment): NonNullable<WindowsPoolStatus['conditions']> {
  const before = s.pool.status?.conditions ?? [];
  return (Object.entries(assessment) as [string, Finding][]).map(([type, { status, reason, message }]) => {
    const old = before.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timeOf(s.now);
    return { type, status, observedGeneration: s.pool.metadata.generation, lastTransitionTime, reason, message };
  });
}

/** Kubernetes writes times without fractions. */
function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}

function countNodes({ verdicts, nodes, group }: Situation): NonNullable<WindowsPoolStatus['nodes']> {
  const inState = (state: Verdict['state']) => verdicts.filter((verdict) => verdict.state === state).length;
  return {
    ...(group.kind === 'seen' && { desired: group.group.scaling.desired }),
    total: nodes.length,
    ready: nodes.filter(({ ready }) => ready === 'True').length,
    verified: inState('verified'),
    joining: inState('joining'),
    failing: inState('failing'),
  };
}

function countBuilds(verdicts: readonly Verdict[]): { kernelVersion: string; nodes: number }[] {
  const counts = new Map<string, number>();
  for (const { node } of verdicts) counts.set(node.kernelVersion, (counts.get(node.kernelVersion) ?? 0) + 1);
  return [...counts]
    .map(([kernelVersion, nodes]) => ({ kernelVersion, nodes }))
    .sort((a, b) => b.nodes - a.nodes || (a.kernelVersion < b.kernelVersion ? -1 : 1));
}

function failingNodes(verdicts: readonly Verdict[]): NonNullable<WindowsPoolStatus['failingNodes']> {
  return verdicts
    .filter(({ state }) => state === 'failing')
    .map(({ node, failures: [first] }) => ({
      name: node.name,
      reason: first?.reason ?? '',
      message: (first?.message ?? '').slice(0, MESSAGE_LENGTH),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, LIST_LENGTH);
}

function summaryFor(
  s: Situation,
  builds: readonly { kernelVersion: string }[],
): NonNullable<WindowsPoolStatus['summary']> {
  const { desired, total, verified } = countNodes(s);
  const [first] = builds;
  return {
    nodes: `${total}/${desired ?? '-'}`,
    verified: `${verified}/${total}`,
    ...(first && { build: builds.length === 1 ? first.kernelVersion : count(builds.length, 'build') }),
  };
}

function nodeGroupState(outcome: Outcome): NodeGroupState {
  const { pool, group } = outcome.after;
  const memory = pool.status?.nodeGroup;
  const name = nodeGroupNameOf(pool);
  const owned = group.kind === 'seen' && isOwnedBy(pool, group.group) ? group.group : undefined;
  const remembered = rememberedOf(outcome, owned);
  if (owned) return { name, ...describedBy(owned), ...remembered };
  if (group.kind === 'unreachable') return { ...memory, name, ...remembered };
  return { name, ...(memory?.arn && { arn: memory.arn }), ...remembered };
}

function describedBy(group: NodeGroup): Omit<NodeGroupState, 'name'> {
  const issues = group.healthIssues.slice(0, LIST_LENGTH);
  return {
    arn: group.arn,
    status: group.status,
    amiType: group.amiType,
    ...(group.kubernetesVersion && { kubernetesVersion: group.kubernetesVersion }),
    ...(group.releaseVersion && { releaseVersion: group.releaseVersion }),
    ...(issues.length > 0 && {
      healthIssues: issues.map(({ code, message, resourceIds }) => ({
        code,
        message,
        resourceIds: resourceIds.slice(0, LIST_LENGTH),
      })),
    }),
    ...(group.autoScalingGroups.length > 0 && { autoScalingGroups: [...group.autoScalingGroups] }),
  };
}

type Remembered = Pick<NodeGroupState, 'tagKeys' | 'lastAppliedDesired' | 'update' | 'failedTarget'>;

function rememberedOf(outcome: Outcome, owned: NodeGroup | undefined): Remembered {
  const { pool } = outcome.after;
  const memory = pool.status?.nodeGroup;
  const desired = lastAppliedDesired(outcome, owned);
  const update = updateState(outcome);
  const failed = failedTarget(outcome);
  return {
    ...(memory?.tagKeys && { tagKeys: tagKeysFor(pool, owned) }),
    ...(desired !== undefined && { lastAppliedDesired: desired }),
    ...(update && { update }),
    ...(failed && { failedTarget: failed }),
  };
}

/** The spec's desired size once EKS has it, or has had it: sent in this reconcile, found as it is, or never seen before. */
function lastAppliedDesired(
  { after: { pool }, done, accepted }: Outcome,
  owned: NodeGroup | undefined,
): number | undefined {
  const { desired } = pool.spec.scaling;
  if (desired === undefined) return undefined;
  const memory = pool.status?.nodeGroup;
  const sent = accepted !== undefined || done.some(({ kind }) => kind === 'createNodeGroup');
  const firstSight = owned !== undefined && memory?.arn === undefined;
  return sent || firstSight || owned?.scaling.desired === desired ? desired : memory?.lastAppliedDesired;
}

function updateState({ after: { pool, update }, accepted }: Outcome): NodeGroupState['update'] {
  if (accepted) {
    const { id, type, status } = accepted.update;
    return { id, type, target: accepted.target, status };
  }
  const memory = pool.status?.nodeGroup?.update;
  if (!memory || update?.id !== memory.id) return memory;
  const errors = update.errors.map(({ code, message }) => `${code}: ${message}`).slice(0, 10);
  return { ...memory, status: update.status, ...(errors.length > 0 && { errors }) };
}

/** What EKS refused or failed to do, as long as the spec still asks for it. */
function failedTarget(outcome: Outcome): NodeGroupState['failedTarget'] {
  const s = outcome.after;
  const time = timeOf(s.now);
  const create = lastingTrouble(s, 'createNodeGroup');
  if (create) {
    const reason = create.kind === 'limit' ? 'QuotaExceeded' : 'CreateRefused';
    return {
      target: createdFrom(s),
      reason,
      message: `EKS refused to create node group ${nodeGroupNameOf(s.pool)}: ${create.message}`,
      time,
    };
  }
  const refused = lastingTrouble(s, 'updateConfig');
  if (refused) {
    const message = `EKS refused to update node group ${nodeGroupNameOf(s.pool)}: ${refused.message}`;
    return { target: configTargetOf(s.pool), reason: 'UpdateRefused', message, time };
  }
  const update = updateState(outcome);
  if (s.update && update?.status === 'Failed' && update.target === configTargetOf(s.pool)) {
    const message = `Update ${update.id} of node group ${nodeGroupNameOf(s.pool)} failed: ${update.errors?.join(' ') || 'EKS gives no reason.'}`;
    return { target: update.target, reason: 'UpdateFailed', message, time };
  }
  const before = s.pool.status?.nodeGroup?.failedTarget;
  return before && before.target === currentTarget(s) ? before : undefined;
}

/** Trouble that the same call would meet again. */
function lastingTrouble({ troubles }: Situation, step: Step['kind']): Trouble | undefined {
  return troubles.find((entry) => entry.step === step && ['refused', 'limit', 'unknown'].includes(entry.trouble.kind))
    ?.trouble;
}

function currentTarget(s: Situation): string {
  return s.group.kind === 'absent' ? createdFrom(s) : configTargetOf(s.pool);
}
