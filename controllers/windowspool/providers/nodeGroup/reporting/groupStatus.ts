/** The node group in status, and the records that must survive a restart of the operator. */
import type { CheckState, NodeGroupState, Tracking, WindowsPool, WindowsPoolStatus } from '../../../api/api.gen.ts';
import { checkReasons } from '../../../api/reasons.ts';
import { AWS_MESSAGE_LENGTH, LIST_LENGTH, STEP_LENGTH } from '../../../api/statusLimits.ts';
import { checkStates } from '../../../checks/checkStates.ts';
import { withoutConditionRecords } from '../../../conditions/records.ts';
import type { Accepted, Outcome, RunResult } from '../../../model/outcome.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { timeOf } from '../../../util/durations.ts';
import { cut } from '../../../util/words.ts';
import { DESIRED, nextApplied } from '../changes/appliedFields.ts';
import { appliedOf } from '../changes/appliedRecord.ts';
import { describeError } from '../changes/describeFailedChanges.ts';
import { gateTaintState } from '../changes/gateTaintFallback.ts';
import { nextScalingTags } from '../desired/autoscalerTags.ts';
import { creationOf, nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { dayOf, followsImage, imageIdOf, isImageId, selectedImage } from '../launchTemplate/image.ts';
import { hasLaunchSettings, isCustom } from '../launchTemplate/launchSettings.ts';
import { ownTemplateIn } from '../launchTemplate/ownTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, isClusterMismatch, isUnknown, lastReleaseOf, ownedGroup } from '../observation/knownGroups.ts';
import { secondGroupState } from '../secondGroup/secondGroupStatus.ts';
import { dateOf, lifeFrom } from '../versions/releaseVersion.ts';

/** status.checks. If nothing could be checked in this run, the previous entries stay, except those of another release of the operator. */
export function groupCheckStates({ pool, group, cluster, due: { prerequisites } }: EksDerived): CheckState[] {
  const { results, scope } = prerequisites;
  const known: readonly string[] = checkReasons;
  const earlier = (pool.status?.checks ?? []).filter(({ reason }) => known.includes(reason));
  if (results) return checkStates(results, earlier);
  return isUnknown(group) || cluster.kind === 'unreachable' || scope !== 'nothing' ? earlier : [];
}

/** status.nodeGroup after a run. */
export function nodeGroupState(outcome: RunResult<EksDerived>): NodeGroupState {
  const { pool, group } = outcome.after;
  const recorded = pool.status?.nodeGroup;
  const name = nodeGroupNameOf(pool);
  // A group with this name in another cluster is not the pool's, and must not overwrite the record.
  if (isClusterMismatch(outcome.after)) return recorded ?? { name };
  const owned = ownedGroup(pool, group);
  const changes = { ...secondGroupState(outcome), ...changesOf(outcome) };
  if (owned) {
    const { rollback, differences } = outcome.after.due;
    const differs = differences.immutable.length > 0;
    return {
      name,
      ...describedBy(pool, owned),
      ...imageState(outcome.after, owned),
      ...templateState(outcome.after, owned),
      ...latestRelease(outcome.after),
      ...warmPoolState(outcome.after, owned),
      ...(differs && { differs }),
      ...(rollback && { rollback: rollback.record }),
      ...changes,
    };
  }
  if (isUnknown(group)) {
    const { replacement: _replacement, canary: _canary, ...last } = recorded ?? {};
    return { ...last, name, ...changes };
  }
  return { name, ...formerGroup(outcome.after), ...changes };
}

/** What status keeps of a group that is absent or not the pool's. When its tag is restored, a rollback of it is still known. */
function formerGroup({ pool, group }: EksState): Partial<NodeGroupState> {
  const { arn, releaseVersion, rollback } = pool.status?.nodeGroup ?? {};
  if (!arn) return {};
  const isSame = group.kind === 'seen' && group.group.arn === arn;
  return { arn, ...(isSame && releaseVersion && { releaseVersion }), ...(isSame && rollback && { rollback }) };
}

function describedBy(pool: WindowsPool, group: NodeGroup): Omit<NodeGroupState, 'name'> {
  const issues = group.healthIssues.slice(0, LIST_LENGTH);
  const releaseVersion = lastReleaseOf(pool, group);
  const releaseDate = dateOf(releaseVersion ?? '');
  return {
    arn: group.arn,
    status: group.status,
    amiType: group.amiType,
    ...(group.subnets.length > 0 && { subnets: [...group.subnets].sort() }),
    ...(group.kubernetesVersion && { kubernetesVersion: group.kubernetesVersion }),
    ...(releaseVersion && { releaseVersion }),
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
function templateState(s: EksDerived, group: NodeGroup): Pick<NodeGroupState, 'launchTemplate'> {
  const { launchTemplate } = group;
  if (!launchTemplate) return {};
  const { id, name, version } = launchTemplate;
  const desiredVersion = s.due.template?.version;
  return { launchTemplate: { id, name, version, ...(desiredVersion !== undefined && { desiredVersion }) } };
}

/** The dates of the custom AMI of the group, as last known. */
function imageState({ pool, prerequisites }: EksState, group: NodeGroup): Partial<NodeGroupState> {
  const id = imageIdOf(group);
  if (id === undefined) return {};
  const { ofGroup } = (prerequisites?.image?.ok && prerequisites.image.value) || {};
  const { releaseVersion, releaseDate, privateDate, deprecationDate } = pool.status?.nodeGroup ?? {};
  if (ofGroup?.id !== id || !ofGroup.found)
    return releaseVersion === id
      ? {
          ...(releaseDate && { releaseDate }),
          ...(privateDate && { privateDate }),
          ...(deprecationDate && { deprecationDate }),
        }
      : {};
  const { createdAt, deprecatedAt, isOfAmazon } = ofGroup.found;
  return {
    ...(createdAt !== undefined && { releaseDate: dayOf(createdAt) }),
    ...(createdAt !== undefined && isOfAmazon && { privateDate: dayOf(lifeFrom(createdAt).private) }),
    ...(deprecatedAt !== undefined && { deprecationDate: dayOf(deprecatedAt) }),
  };
}

/** The newest release as last known, or the custom AMI in the parameter. */
function latestRelease({ pool, newestRelease, prerequisites }: EksState): Pick<NodeGroupState, 'latestReleaseVersion'> {
  if (isCustom(pool.spec)) {
    if (!followsImage(pool.spec)) return {};
    const before = pool.status?.nodeGroup?.latestReleaseVersion ?? '';
    const image = selectedImage(pool.spec, prerequisites) ?? (isImageId(before) ? before : undefined);
    return image === undefined ? {} : { latestReleaseVersion: image };
  }
  const known = newestRelease?.ok ? newestRelease.value : pool.status?.nodeGroup?.latestReleaseVersion;
  return known ? { latestReleaseVersion: known } : {};
}

/** The warm pool, with the number of its instances as last known. */
function warmPoolState({ pool, autoscaler }: EksState, { warmPool }: NodeGroup): Pick<NodeGroupState, 'warmPool'> {
  if (!warmPool) return {};
  const { minSize, maxGroupPreparedCapacity, poolState, reuseOnScaleIn } = warmPool;
  const instances = autoscaler?.warmInstances ?? pool.status?.nodeGroup?.warmPool?.instances;
  return {
    warmPool: {
      minSize,
      ...(maxGroupPreparedCapacity !== undefined && { maxGroupPreparedCapacity }),
      poolState,
      reuseOnScaleIn,
      ...(instances !== undefined && { instances }),
    },
  };
}

/** The last update, and changes that failed. */
function changesOf(outcome: RunResult<EksDerived>): Pick<NodeGroupState, 'update' | 'failedChanges'> {
  const update = updateState(outcome);
  const failedChanges = outcome.after.due.failures.changes.map((failed) => ({
    ...failed,
    message: cut(failed.message, AWS_MESSAGE_LENGTH),
  }));
  return { ...(update && { update }), ...(failedChanges.length > 0 && { failedChanges }) };
}

/** status.tracking after a run: what cannot be observed anywhere. */
export function trackingOf(outcome: RunResult<EksDerived>): Tracking | undefined {
  const { pool, group } = outcome.after;
  const recorded = pool.status?.tracking;
  if (isClusterMismatch(outcome.after)) return recorded && withoutConditionRecords(recorded);
  const owned = ownedGroup(pool, group);
  const isNew = isCreatedFrom(outcome.after, owned);
  const size = isNew ? scalingIn(pool.spec).desiredSize : lastAppliedDesiredSize(outcome, owned);
  const tags = nextScalingTags(outcome.after);
  const sent = { isNew, isSizeSent: outcome.accepted?.desired !== undefined };
  const applied = owned ? nextApplied(pool, owned, sent) : recorded?.applied;
  const tracking = {
    ...(applied && { applied }),
    ...(recorded?.secondApplied && secondGroupState(outcome).replacement && { secondApplied: recorded.secondApplied }),
    ...(tags && { scalingTags: [...tags] }),
    ...gateTaintState(outcome.after),
    ...templateRecord(outcome.after),
    ...(size !== undefined && { lastAppliedDesiredSize: size }),
  };
  return Object.keys(tracking).length > 0 ? tracking : undefined;
}

/** Whether EKS has just created the group from the spec as it is now. After a crash, it may have finished when the operator sees it for the first time. */
function isCreatedFrom({ pool, due: { creation } }: EksDerived, owned: NodeGroup | undefined): boolean {
  if (!owned || creation === undefined || creationOf(owned.tags).spec !== creation.spec) return false;
  const isFirst = pool.status?.tracking?.lastAppliedDesiredSize === undefined;
  return owned.status === 'CREATING' || (isFirst && appliedOf(pool)?.has(DESIRED) === true);
}

/** The name of the pool's launch template, until EC2 says that it does not exist and the spec needs none. It is recorded again if the status was lost. */
function templateRecord(s: EksState): Pick<Tracking, 'ownTemplate'> {
  const { pool, ownTemplate: seen } = s;
  const ownTemplate = ownTemplateIn(s)?.name ?? pool.status?.tracking?.ownTemplate;
  const isUnneeded = seen?.kind === 'absent' && !hasLaunchSettings(pool.spec);
  return ownTemplate === undefined || isUnneeded ? {} : { ownTemplate };
}

/**
 * The desired size last sent to EKS for this pool: with a successful update, or because the group has it.
 * Without a record, the spec's size counts as sent. A failed update changed nothing, so its size is sent again.
 */
function lastAppliedDesiredSize(outcome: Outcome<EksState>, owned: NodeGroup | undefined): number | undefined {
  const { pool, update } = outcome.after;
  const { desiredSize: desired } = scalingIn(pool.spec);
  if (desired === undefined) return undefined;
  const { tracking, nodeGroup } = pool.status ?? {};
  const isLost = owned !== undefined && tracking?.applied === undefined;
  if (isLost || owned?.scaling.desiredSize === desired) return desired;
  const succeeded = update?.status === 'Successful' && update.id === nodeGroup?.update?.id;
  return (succeeded ? nodeGroup?.update?.desiredSize : undefined) ?? tracking?.lastAppliedDesiredSize;
}

function updateState({ after, accepted }: RunResult<EksDerived>): NodeGroupState['update'] {
  const { pool, update } = after;
  if (accepted) {
    const { id, type, createdAt } = accepted.update;
    // EKS may have repeated an earlier answer, for an update that is over; only DescribeUpdate returns its result.
    const status = 'InProgress';
    const sent = accepted.desired !== undefined && { desiredSize: accepted.desired };
    const started = createdAt > 0 && { startedAt: timeOf(createdAt) };
    return {
      id,
      type,
      target: accepted.target,
      change: cut(accepted.change, STEP_LENGTH),
      ...sent,
      status,
      ...started,
      ...contentState(after, accepted),
    };
  }
  const recorded = pool.status?.nodeGroup?.update;
  if (!recorded || update?.id !== recorded.id) return recorded;
  const errors = update.errors.map((error) => cut(describeError(error), AWS_MESSAGE_LENGTH)).slice(0, 10);
  return { ...recorded, status: update.status, ...(errors.length > 0 && { errors }) };
}

/** What an automatic update installs: when it fails, another one may be due. */
function contentState({ due: { version } }: EksDerived, { target }: Pick<Accepted, 'target'>) {
  const content = version?.target === target ? version.content : undefined;
  return content === undefined ? {} : { content };
}

/** The pinned cluster. A pool whose status was lost is pinned again to the cluster that has its group. */
export function clusterState(s: EksState): WindowsPoolStatus['cluster'] {
  const pinned = s.pool.status?.cluster;
  if (pinned || s.cluster.kind !== 'seen' || isClusterMismatch(s)) return pinned;
  const { name, arn } = s.cluster.cluster;
  return ownedGroup(s.pool, s.group) && { name, arn };
}

/** How many nodes the groups should have. A group that cannot be read keeps its last known size. */
export function shownSize(s: EksDerived): number | undefined {
  if (groupOf(s)) return s.due.capacity.desired;
  return isUnknown(s.group) ? s.pool.status?.nodes?.desired : undefined;
}
