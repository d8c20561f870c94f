/** The status of a pool, from the situation after the steps. Pure. It is also the operator's memory: what must survive a restart. */

import type { NodeGroupState, WindowsPoolStatus } from './api.gen.ts';
import { nextReservation } from './disruption/reservation.ts';
import { groupOf, isClusterMismatch } from './facts.ts';
import type { ConditionSet, ConditionState } from './model/conditions.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome } from './model/outcome.ts';
import type { Step } from './model/steps.ts';
import { controllerWarningOf } from './nodes/controllerWarnings.ts';
import { gateTaintState } from './nodes/gateRefusal.ts';
import { countBuilds, revisionsOf } from './nodes/kernels.ts';
import { hasNodeGroup, scalingIn } from './poolKind.ts';
import type { NodeGroup } from './ports/eks.ts';
import { nextApplied } from './providers/eks/applied.ts';
import { nextScalingTags } from './providers/eks/autoscalerTags.ts';
import { describeError, type FailedTarget, failedTargetsOf, timeOf } from './providers/eks/failedTarget.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf } from './providers/eks/nodeGroup.ts';
import { desiredTemplateVersion } from './providers/eks/upgrades/launchTemplate.ts';
import { dateOf } from './providers/eks/upgrades/releaseVersion.ts';
import { isOwner, runtimeClassFor } from './runtimeClass/runtimeClass.ts';
import { describeStep } from './steps/steps.ts';
import { count, cut } from './words.ts';

/** Lists in status are cut here; the counts beside them are of all. */
const LIST_LENGTH = 20;

/** The longest texts that the schema takes; the API server would refuse the whole status. */
const CONDITION_LENGTH = 32_768;
const STEP_LENGTH = 1_024;
const NODE_MESSAGE_LENGTH = 1_024;
const AWS_MESSAGE_LENGTH = 4_096;

/** The status to write. Equal situations give equal statuses, except for the times of transitions. */
export function statusFor(outcome: Outcome, assessment: ConditionSet, pending: readonly Step[]): WindowsPoolStatus {
  const s = outcome.after;
  const runtimeClass = runtimeClassName(outcome);
  const cluster = clusterOf(s);
  const builds = countBuilds(s.poolNodes);
  const revisions = revisionsOf(s.pool, s.poolNodes);
  const failing = failingNodes(s);
  const reservation = nextReservation(outcome);
  const steps = pending.map(describeStep).filter((text) => text !== undefined);
  return {
    observedGeneration: s.pool.metadata.generation,
    conditions: conditionsFor(s, assessment),
    summary: summaryFor(s, builds),
    nodes: countNodes(s),
    ...(builds.length > 0 && { builds: builds.slice(0, LIST_LENGTH) }),
    ...(revisions && { revisions }),
    ...(failing.length > 0 && { failingNodes: failing }),
    ...(hasNodeGroup(s.pool) && { nodeGroup: nodeGroupState(outcome) }),
    ...(reservation && { disruption: reservation }),
    ...existingNodesState(s),
    ...(cluster && { cluster }),
    ...(runtimeClass && { runtimeClass: { name: runtimeClass } }),
    ...(steps.length > 0 && { pendingSteps: steps.slice(0, LIST_LENGTH).map((text) => cut(text, STEP_LENGTH)) }),
  };
}

/** The name that the spec wants, once the one that it no longer wants is left: until then the former must not be forgotten. */
function runtimeClassName({ after: { pool, formerRuntimeClass: former }, done }: Outcome): string | undefined {
  const left = done.some(({ kind }) => kind === 'releaseRuntimeClass' || kind === 'deleteRuntimeClass');
  return former && isOwner(pool, former) && !left ? former.name : runtimeClassFor(pool)?.name;
}

/** The pinned cluster. A pool whose status was lost is pinned again where its own group is. */
function clusterOf(s: ObservedState): WindowsPoolStatus['cluster'] {
  const pinned = s.pool.status?.cluster;
  if (pinned || s.cluster.kind !== 'seen' || isClusterMismatch(s)) return pinned;
  const { name, arn } = s.cluster.cluster;
  return s.group.kind === 'seen' && isOwnedBy(s.pool, s.group.group) ? { name, arn } : undefined;
}

function conditionsFor(s: ObservedState, assessment: ConditionSet): NonNullable<WindowsPoolStatus['conditions']> {
  const before = s.pool.status?.conditions ?? [];
  return (Object.entries(assessment) as [string, ConditionState][]).map(([type, { status, reason, message }]) => {
    const old = before.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timeOf(s.now);
    return {
      type,
      status,
      observedGeneration: s.pool.metadata.generation,
      lastTransitionTime,
      reason,
      message: cut(message, CONDITION_LENGTH),
    };
  });
}

function countNodes(s: ObservedState): NonNullable<WindowsPoolStatus['nodes']> {
  const { poolNodes, pool } = s;
  const group = groupOf(s);
  const desired = group ? (isOwnedBy(pool, group) ? group.scaling.desired : undefined) : remembered(s);
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

/** A group that cannot be looked at is as large as it was. */
function remembered({ group, pool }: ObservedState): number | undefined {
  return group.kind === 'unreachable' ? pool.status?.nodes?.desired : undefined;
}

/** What the list of hosts says that cannot be carried out. */
function existingNodesState({ membership }: ObservedState): Pick<WindowsPoolStatus, 'existingNodes'> {
  const { unknown = [], malformed = [] } = membership?.listed ?? {};
  const unknownAddresses = unknown.slice(0, LIST_LENGTH);
  const malformedEntries = malformed.slice(0, LIST_LENGTH).map(({ entry, message }) => ({ entry, message }));
  if (unknownAddresses.length + malformedEntries.length === 0) return {};
  return {
    existingNodes: {
      ...(unknownAddresses.length > 0 && { unknownAddresses }),
      ...(malformedEntries.length > 0 && { malformedEntries }),
    },
  };
}

function failingNodes(s: ObservedState): NonNullable<WindowsPoolStatus['failingNodes']> {
  return s.poolNodes.failing.slice(0, LIST_LENGTH).map(({ node, failures: [first] }) => {
    const reported = first?.reason === 'NoPodAddresses' ? controllerWarningOf(s, node.name) : undefined;
    const message = `${first?.message ?? ''}${reported ? `. ${reported}` : ''}`;
    return { name: node.name, reason: first?.reason ?? '', message: cut(message, NODE_MESSAGE_LENGTH) };
  });
}

function summaryFor(
  s: ObservedState,
  builds: readonly { kernelVersion: string }[],
): NonNullable<WindowsPoolStatus['summary']> {
  const { desired, total, verified } = countNodes(s);
  const [first] = builds;
  return {
    nodes: hasNodeGroup(s.pool) ? `${total}/${desired ?? '-'}` : String(total),
    verified: `${verified}/${total}`,
    ...(first && { build: builds.length === 1 ? first.kernelVersion : count(builds.length, 'build') }),
  };
}

function nodeGroupState(outcome: Outcome): NodeGroupState {
  const { pool, group } = outcome.after;
  const memory = pool.status?.nodeGroup;
  const name = nodeGroupNameOf(pool);
  // What another cluster has under this name is not the pool's, and must not overwrite what is remembered of it.
  if (isClusterMismatch(outcome.after)) return memory ?? { name };
  const owned = group.kind === 'seen' && isOwnedBy(pool, group.group) ? group.group : undefined;
  const remembered = rememberedOf(outcome, owned);
  if (owned) {
    const differs = immutableDifferences(pool, owned).length > 0;
    return {
      name,
      ...describedBy(owned),
      ...templateState(outcome.after, owned),
      ...latestRelease(outcome.after),
      ...(differs && { differs }),
      ...remembered,
    };
  }
  if (group.kind === 'unreachable') return { ...memory, name, ...remembered };
  return { name, ...(memory?.arn && { arn: memory.arn }), ...remembered };
}

function describedBy(group: NodeGroup): Omit<NodeGroupState, 'name'> {
  const issues = group.healthIssues.slice(0, LIST_LENGTH);
  const releaseDate = dateOf(group.releaseVersion ?? '');
  return {
    arn: group.arn,
    status: group.status,
    amiType: group.amiType,
    ...(group.kubernetesVersion && { kubernetesVersion: group.kubernetesVersion }),
    ...(group.releaseVersion && { releaseVersion: group.releaseVersion }),
    ...(releaseDate && { releaseDate }),
    ...(issues.length > 0 && {
      healthIssues: issues.map(({ code, message, resourceIds }) => ({
        code,
        message: cut(message, AWS_MESSAGE_LENGTH),
        resourceIds: resourceIds.slice(0, LIST_LENGTH),
      })),
    }),
    ...(group.autoScalingGroups.length > 0 && { autoScalingGroups: [...group.autoScalingGroups] }),
  };
}

/** The launch template of the group, and the version that it shall have, as it was last known. */
function templateState(s: ObservedState, { launchTemplate }: NodeGroup): Pick<NodeGroupState, 'launchTemplate'> {
  if (!launchTemplate) return {};
  const { id, name, version } = launchTemplate;
  const wantedVersion = desiredTemplateVersion(s);
  return { launchTemplate: { id, name, version, ...(wantedVersion !== undefined && { wantedVersion }) } };
}

/** The newest release, as it was last known. */
function latestRelease({ pool, newestRelease }: ObservedState): Pick<NodeGroupState, 'latestReleaseVersion'> {
  const known = newestRelease?.ok ? newestRelease.value : pool.status?.nodeGroup?.latestReleaseVersion;
  return known ? { latestReleaseVersion: known } : {};
}

type Remembered = Pick<
  NodeGroupState,
  'applied' | 'scalingTags' | 'gateTaint' | 'lastAppliedDesired' | 'update' | 'failedTarget' | 'moreFailedTargets'
>;

function rememberedOf(outcome: Outcome, owned: NodeGroup | undefined): Remembered {
  const { pool } = outcome.after;
  const memory = pool.status?.nodeGroup;
  const desired = lastAppliedDesired(outcome, owned);
  const update = updateState(outcome);
  const tags = nextScalingTags(outcome.after);
  const [failed, ...more] = failedTargetsOf(outcome.after).map(fitting);
  const applied = owned ? nextApplied(pool, owned, outcome.accepted?.desired !== undefined) : memory?.applied;
  return {
    ...(applied && { applied }),
    ...(tags && { scalingTags: [...tags] }),
    ...gateTaintState(outcome.after),
    ...(desired !== undefined && { lastAppliedDesired: desired }),
    ...(update && { update }),
    ...(failed && { failedTarget: failed }),
    ...(more.length > 0 && { moreFailedTargets: more }),
  };
}

function fitting(failed: FailedTarget): FailedTarget {
  return { ...failed, message: cut(failed.message, AWS_MESSAGE_LENGTH) };
}

/**
 * The desired size that EKS got last for this pool: remembered before the creation, sent with an update that succeeded (whatever the spec
 * says by now), found as the spec has it, or unknown because the memory was lost. A failed update reached nothing, so its size is sent again.
 */
function lastAppliedDesired(outcome: Outcome, owned: NodeGroup | undefined): number | undefined {
  const { pool, update } = outcome.after;
  const { desired } = scalingIn(pool.spec);
  if (desired === undefined) return undefined;
  const memory = pool.status?.nodeGroup;
  const isLost = owned !== undefined && memory?.applied === undefined;
  if (isLost || owned?.scaling.desired === desired) return desired;
  const succeeded = update?.status === 'Successful' && update.id === memory?.update?.id;
  return (succeeded ? memory?.update?.desired : undefined) ?? memory?.lastAppliedDesired;
}

function updateState({ after: { pool, update }, accepted }: Outcome): NodeGroupState['update'] {
  if (accepted) {
    const { id, type, createdAt } = accepted.update;
    // An answer that repeats one which was lost may be of an update that has ended: how, only a look at it tells.
    const status = 'InProgress';
    const sent = accepted.desired !== undefined && { desired: accepted.desired };
    const started = createdAt > 0 && { startedAt: timeOf(createdAt) };
    return {
      id,
      type,
      target: accepted.target,
      change: cut(accepted.change, STEP_LENGTH),
      ...sent,
      status,
      ...started,
    };
  }
  const memory = pool.status?.nodeGroup?.update;
  if (!memory || update?.id !== memory.id) return memory;
  const errors = update.errors.map((error) => cut(describeError(error), AWS_MESSAGE_LENGTH)).slice(0, 10);
  return { ...memory, status: update.status, ...(errors.length > 0 && { errors }) };
}
