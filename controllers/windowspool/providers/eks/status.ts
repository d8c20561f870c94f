/** The node group in status, with the records that must survive a restart of the operator. */
import type { NodeGroupState } from '../../api.gen.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Outcome } from '../../model/outcome.ts';
import { scalingIn } from '../../nodeSource.ts';
import { gateTaintState } from '../../nodes/gateRefusal.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { isClusterMismatch } from '../../queries.ts';
import { LIST_LENGTH, STEP_LENGTH } from '../../statusLimits.ts';
import { timeOf } from '../../util/durations.ts';
import { cut } from '../../util/words.ts';
import { nextApplied } from './applied.ts';
import { nextScalingTags } from './autoscalerTags.ts';
import { describeError, type FailedTarget, failedTargetsOf } from './failedTarget.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf } from './nodeGroup.ts';
import { desiredTemplateVersion } from './upgrades/launchTemplate.ts';
import { dateOf } from './upgrades/releaseVersion.ts';

/** The maximum length of a message of AWS in the schema. */
const AWS_MESSAGE_LENGTH = 4_096;

/** status.nodeGroup after a run. */
export function nodeGroupState(outcome: Outcome): NodeGroupState {
  const { pool, group } = outcome.after;
  const memory = pool.status?.nodeGroup;
  const name = nodeGroupNameOf(pool);
  // A group with this name in another cluster is not the pool's, and must not overwrite the record.
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

/** The launch template of the group, and its desired version as last known. */
function templateState(s: ObservedState, { launchTemplate }: NodeGroup): Pick<NodeGroupState, 'launchTemplate'> {
  if (!launchTemplate) return {};
  const { id, name, version } = launchTemplate;
  const wantedVersion = desiredTemplateVersion(s);
  return { launchTemplate: { id, name, version, ...(wantedVersion !== undefined && { wantedVersion }) } };
}

/** The newest release as last known. */
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
 * The desired size last sent to EKS for this pool: recorded before the creation, sent with a successful update, or equal to the spec.
 * Without a record, the spec's size counts as sent. A failed update changed nothing, so its size is sent again.
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
    // EKS may have repeated an earlier answer, for an update that is over; only DescribeUpdate returns its result.
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
