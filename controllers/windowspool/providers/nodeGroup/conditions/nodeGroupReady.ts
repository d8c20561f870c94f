/** The condition NodeGroupReady. */

import { POOL_KEY } from '../../../api/labels.ts';
import type { Reason } from '../../../api/reasons.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../../conditions/condition.ts';
import type { ConditionState } from '../../../model/conditions.ts';
import type { Chain, Decision } from '../../../model/decisions.ts';
import type { RunResult } from '../../../model/outcome.ts';
import type { StepError } from '../../../model/stepError.ts';
import type { CallError, CallErrorKind } from '../../../ports/callResult.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { isDeleting, isPaused, unreadReason } from '../../../rules/poolQueries.ts';
import { UNREACHABLE_SHOWN_AFTER_MS } from '../../../rules/retryIntervals.ts';
import { waitOf } from '../../../rules/ruleChains.ts';
import { failedKindOf, isUpdateOfGroup, stepKindOf } from '../../../steps/stepKinds.ts';
import { clockTime, count, describeFailure, joined, sentence } from '../../../util/words.ts';
import { describeRetry, quoteOfUpdate, retryCommand } from '../changes/describeFailedChanges.ts';
import { likelyCause, riskOfCreation } from '../checks/likelyCause.ts';
import { ADOPTION_FLAG, adoptionTagCommand } from '../desired/adoption.ts';
import { isOwnedBy, nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { ownTemplateNameOf } from '../launchTemplate/ownTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { describeUnconfirmed } from '../observation/confirmation.ts';
import { groupOf, hasCluster, isClusterMismatch } from '../observation/knownGroups.ts';
import { describeIssues, remediesFor, symptomsOf } from '../reporting/healthIssues.ts';
import { scriptFirst } from '../reporting/nodeScript.ts';
import { canBeReplaced } from '../secondGroup/secondGroup.ts';
import { describeChange, describeVersionChange } from '../steps/describeChange.ts';

/** Whether the node group exists, is the pool's, and runs nodes. */
export function nodeGroupReady(result: RunResult<EksDerived>): ConditionState {
  const { after: s, decisions } = result;
  const name = nodeGroupNameOf(s.pool);
  if (isDeleting(s.pool) && (s.pool.spec.deletionPolicy === 'Retain' || !isClusterMismatch(s))) {
    return assessDeletion(result, name);
  }
  if (!hasCluster(s))
    return unknownCondition(
      'ClusterNotConfigured',
      `The operator has not read node group ${name}. See PrerequisitesMet.`,
    );
  if (isClusterMismatch(s)) {
    return unknownCondition(
      'ClusterMismatch',
      `The operator does not read node group ${name}, because this is not the pool's cluster.`,
    );
  }
  const unknown = assessUnknown(s, name);
  if (unknown) return unknown;
  const group = groupOf(s);
  const failed = assessErrors(s, name, group);
  if (failed) return failed;
  if (!group && s.due.prerequisites.blocking.length > 0) {
    const message = `Node group ${name} is created when its prerequisites are met. See PrerequisitesMet.`;
    return falseCondition('Pending', message);
  }
  const waiting = group ? undefined : assessTemplate(s, name);
  if (waiting) return waiting;
  if (!group) {
    const wait = waitOf(decisions, 'nodeGroup')?.message;
    const how = isPaused(s.pool)
      ? 'does not exist, and is not created while the pool is paused.'
      : wait
        ? `does not exist. ${wait}`
        : 'is about to be created.';
    return falseCondition('Creating', `Node group ${name} ${how}`, 'working');
  }
  if (!isOwnedBy(s.pool, group)) return notOwned(s, group);
  return assessStatus(result, group);
}

function assessUnknown(s: EksState, name: string): ConditionState | undefined {
  const { group, now } = s;
  if (group.kind === 'unconfirmed')
    return group.last ? undefined : unknownCondition('Unconfirmed', describeUnconfirmed(s, group), 'working');
  if (group.kind !== 'unreachable') return undefined;
  const lasting = now - group.since >= UNREACHABLE_SHOWN_AFTER_MS;
  if (group.last && !lasting) return undefined;
  const last = group.last ? ` Its last known status is ${group.last.status}.` : '';
  const message = `Node group ${name} cannot be read: ${describeFailure(group.error)}${last}`;
  return unknownCondition(unreadReason(group.error), message, 'working');
}

const OTHER_NAME = 'Set another nodeGroup.name.';

function notOwned(s: EksDerived, group: NodeGroup): ConditionState {
  const { pool } = s;
  const { name, tags, status } = group;
  const { adoption } = s.due;
  if (status === 'DELETING') {
    const message = `Node group ${name}, which is not managed by this pool, is being deleted. The pool creates its own when it is gone${isPaused(pool) ? ' and the pool is resumed' : ''}.`;
    return falseCondition(adoption?.kind === 'wait' ? 'Adopting' : 'NotOwned', message, 'working');
  }
  if (adoption?.kind === 'refused') {
    const message = `Node group ${name} exists but cannot be adopted: ${adoption.why}. ${OTHER_NAME}${adoption.fix ? ` Or ${adoption.fix}` : ''}`;
    return falseCondition('AdoptionRejected', message, 'stalled');
  }
  if (adoption && adoption.kind !== 'forbidden') {
    const waits = [
      ...(adoption.kind === 'wait' ? [`it is no longer ${status}`] : []),
      ...(isPaused(pool) ? ['the pool is resumed'] : []),
    ];
    const when = waits.length > 0 ? ` when ${joined(waits)}` : '';
    const message = `Node group ${name} is managed by no pool and is adopted${when}.`;
    return falseCondition('Adopting', message, 'working');
  }
  const owner = tags[POOL_KEY];
  const whose = owner
    ? `is managed by WindowsPool ${owner}`
    : `is not managed by this pool: it lacks the tag ${POOL_KEY}`;
  const remedy = owner ? OTHER_NAME : `${OTHER_NAME} ${howToAdopt(s, group)}`;
  return falseCondition('NotOwned', `Node group ${name} ${whose}. ${remedy}`, 'stalled');
}

/** What an adoption needs, in a sentence that ends with a command. */
function howToAdopt({ pool, settings }: EksState, group: NodeGroup): string {
  const needs = [
    ...(settings.enableNodeGroupAdoption ? [] : [`the operator's flag ${ADOPTION_FLAG}`]),
    ...(nodeGroupIn(pool.spec).adoption === 'IfUnowned' ? [] : ['nodeGroup.adoption: IfUnowned']),
    `the pool's name in a tag: ${adoptionTagCommand(pool, group)}`,
  ];
  return `Or let the pool adopt it with ${joined(needs)}`;
}

/** Reasons for errors of a change of the group; all other errors mean that AWS is unavailable. */
const errorReasons: Readonly<Partial<Record<CallErrorKind, Reason>>> = {
  denied: 'AccessDenied',
  limit: 'QuotaExceeded',
  refused: 'UpdateRejected',
  unknown: 'UpdateRejected',
};

/** The error of the last change, in this run or before. */
function assessErrors(s: EksDerived, name: string, group: NodeGroup | undefined): ConditionState | undefined {
  const failed = s.due.failures.asked;
  if (failed) {
    const again = group ? describeRetry(s, failed) : nextAttempt(s, Date.parse(failed.time));
    const message = `${sentence(failed.message)} ${again}`;
    return { ...falseCondition(failed.reason as Reason, message, 'stalled'), ...quoteOfUpdate(s, failed) };
  }
  const error = s.errors.find(
    (entry) => failedKindOf(entry).blocks === 'nodeGroup' && !isReleaseAwaited(s, entry),
  )?.error;
  if (!error || error.kind === 'busy' || error.kind === 'conflict') return undefined;
  const message =
    error.kind === 'denied'
      ? `AWS denied ${error.operation} for node group ${name}. See PrerequisitesMet.`
      : sentence(`${error.operation} of node group ${name} failed: ${error.message}`);
  const reason = errorReasons[error.kind] ?? 'AWSUnavailable';
  return { status: group ? 'Unknown' : 'False', reason, message, working: true };
}

/** Reports a call about the pool's launch template that failed, before its group exists. */
function assessTemplate({ errors, pool, settings }: EksState, name: string): ConditionState | undefined {
  const error = errors.find((entry) => failedKindOf(entry).blocks === 'launchTemplate')?.error;
  if (!error) return undefined;
  const template = ownTemplateNameOf(pool, settings.clusterName);
  const message = `Node group ${name} is created when launch template ${template} exists. ${describeFailure(error)}`;
  const reason = error.kind === 'busy' ? 'Creating' : (errorReasons[error.kind] ?? 'AWSUnavailable');
  return falseCondition(reason, message, 'working');
}

/** What to do about the health issues. A script of the user is the first thing to check when nodes do not join. */
function remediesOf(s: EksState, group: NodeGroup): string {
  const isLate = symptomsOf(group).includes('NodeCreationFailure');
  return `${isLate ? scriptFirst(s) : ''}${remediesFor(group)}`;
}

/** When a failed creation is retried, and how to retry it now. */
function nextAttempt({ pool, settings, now }: EksState, failedAt: number, how = 'retries'): string {
  const at = failedAt + settings.createRetryMs;
  return isPaused(pool) || at <= now
    ? `The operator ${how}.`
    : `At ${clockTime(at)}, the operator ${how}. To do so now: ${retryCommand(pool)}`;
}

/** Whether the error means that EKS does not offer the newest release yet: UpToDate reports it, and nothing that the spec names is missing. */
function isReleaseAwaited(s: EksDerived, { step, target, error }: StepError): boolean {
  if (step !== 'updateNodeGroupVersion' || !error.isTransient || target === undefined) return false;
  return s.due.failures.automatic?.target === target;
}

function assessStatus(result: RunResult<EksDerived>, group: NodeGroup): ConditionState {
  const { after: s } = result;
  const differences = s.due.differences.immutable;
  switch (group.status) {
    case 'CREATING':
      return falseCondition('Creating', describeCreation(s, group), 'working');
    case 'DELETING':
      return falseCondition(
        'Deleting',
        `Node group ${group.name} is being deleted. It is recreated when it is gone.`,
        'working',
      );
    case 'CREATE_FAILED': {
      const cause = `${likelyCause(s, symptomsOf(group))}${remediesOf(s, group)}`;
      return falseCondition(
        'CreateFailed',
        `EKS could not create node group ${group.name}: ${describeIssues(group)}${cause} ${nextAttempt(s, group.modifiedAt, 'deletes the group with its instances and retries')}`,
        'stalled',
      );
    }
    case 'DELETE_FAILED':
      return falseCondition(
        'DeleteFailed',
        `EKS failed to delete node group ${group.name}: ${describeIssues(group)}${remediesFor(group)} The operator retries.`,
        'stalled',
      );
    default:
      if (differences.length > 0 && !canBeReplaced(s.pool)) {
        const message = `Node group ${group.name} differs from the spec in fields that EKS cannot change: ${sentence(joined(differences))} Correct the spec, set nodeGroup.immutableChangePolicy: Replace, or create another pool.`;
        return falseCondition('ImmutableDifference', message, 'stalled');
      }
      return withOpenChange(result, assessWorking(s, group));
  }
}

function describeCreation(s: EksDerived, { name, createdAt }: NodeGroup): string {
  const text =
    createdAt > 0
      ? `has been creating node group ${name} since ${clockTime(createdAt)}`
      : `is creating node group ${name}`;
  return `EKS ${text}.${riskOfCreation(s)}`;
}

/** Marks a group with a change that is under way as being worked on, whatever its status: Ready alone does not mean that all changes are done. */
function withOpenChange({ after: s, decisions }: RunResult<EksDerived>, finding: ConditionState): ConditionState {
  if (finding.working || isPaused(s.pool)) return finding;
  const { version, config, tags } = s.due;
  const what = [
    isUnderWay(decisions, 'version') && version?.mayBegin && describeVersionChange(version.change),
    isUnderWay(decisions, 'config') && config && describeChange(config.change),
    isUnderWay(decisions, 'tags') && tags && 'tags',
  ].find((text) => typeof text === 'string');
  if (what === undefined) return finding;
  return { ...finding, message: `${finding.message} Pending change: ${what}.`, working: true };
}

/** Whether the chain changes the group now, or waits for something in progress, or follows what the chain of the group itself does or waits for. */
function isUnderWay(decisions: readonly Decision[], chain: Chain): boolean {
  return decisions.some(({ about, steps, wait }) => {
    if (about !== chain && about !== 'nodeGroup') return false;
    const isChanging = steps.some((step) => about === 'nodeGroup' || stepKindOf(step).appliesSpec);
    return isChanging || (wait?.progress === true && wait.on !== 'pools');
  });
}

function assessWorking(s: EksDerived, group: NodeGroup): ConditionState {
  if (group.status === 'DEGRADED') {
    const cause = likelyCause(s, symptomsOf(group));
    return falseCondition(
      'Degraded',
      `Node group ${group.name} is DEGRADED: ${describeIssues(group)}${cause}${remediesOf(s, group)}${refusalOf(s)}`,
    );
  }
  if (group.status === 'UPDATING') {
    const { status, change } = s.pool.status?.nodeGroup?.update ?? {};
    const what = status === 'InProgress' && change ? `: ${change}` : '';
    return trueCondition('Updating', `EKS is updating node group ${group.name}${what}.${gatedUpdate(s)}`, 'working');
  }
  const health = group.healthIssues.length > 0 ? ` Health issues: ${describeIssues(group)}` : '';
  return trueCondition('Active', `Node group ${group.name} is ACTIVE.${health}`);
}

/**
 * Warns that EKS replaces the next nodes although the new ones are still gated: it waits only for nodes that are Ready, and accepts no other setting
 * during an update. https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
 */
function gatedUpdate({ pool, poolNodes, settings }: EksState): string {
  const { status, type } = pool.status?.nodeGroup?.update ?? {};
  const isRolling = status === 'InProgress' && type === 'VersionUpdate';
  if (pool.spec.verification.policy !== 'Gate' || !isRolling || poolNodes.gated === 0 || poolNodes.failing.length === 0)
    return '';
  const { name } = poolNodes.failing[0]?.node ?? { name: '' };
  return ` ${count(poolNodes.gated, 'node')} ${poolNodes.gated === 1 ? 'is' : 'are'} gated, and ${name} fails verification. EKS does not wait for gated nodes: it drains old nodes as soon as new ones are Ready. Only PodDisruptionBudgets delay it. See ${settings.docsUrl}/concepts/gate.md#the-gate-and-updates.`;
}

/** Reports that EKS accepts no update while the group is in this state: otherwise it is unclear why a change does not happen. */
function refusalOf({ errors }: EksState): string {
  const isRefused = (entry: StepError) => isUpdateOfGroup(entry) && entry.error.kind === 'busy';
  const error = errors.find(isRefused)?.error;
  if (!error) return '';
  return ` EKS accepts no update while the group is in this state: ${sentence(error.message)} The operator retries.`;
}

function assessDeletion({ after: s, decisions }: RunResult<EksDerived>, name: string): ConditionState {
  const wait = waitOf(decisions, 'deletion')?.message;
  const gone = isDeleted(s) && wait ? `Node group ${name} does not exist. ${wait}` : undefined;
  if (s.pool.spec.deletionPolicy === 'Retain') {
    const retained = `Node group ${name} is retained.`;
    const release = pendingRelease(s);
    const message = release ? `${retained}${release}` : (gone ?? (wait ? `${retained} ${wait}` : retained));
    return falseCondition('Retained', message, 'working');
  }
  const workaround = 'to delete the pool without it, set deletionPolicy: Retain.';
  if (s.group.kind === 'seen' && s.group.group.status === 'DELETE_FAILED') {
    return falseCondition(
      'DeleteFailed',
      `EKS failed to delete node group ${name}: ${describeIssues(s.group.group)}${remediesFor(s.group.group)} The operator retries; ${workaround}`,
      'working',
    );
  }
  if (isPaused(s.pool) && groupOf(s)?.status !== 'DELETING') {
    return falseCondition('Deleting', `Node group ${name} is not deleted while the pool is paused.`);
  }
  const error = observationError(s) ?? deletionError(s);
  const waiting = error ? ` ${describeFailure(error)} The operator retries; ${workaround}` : '';
  const group = groupOf(s);
  const isUnowned = s.group.kind === 'unconfirmed' ? !isDeleted(s) : group && !isOwnedBy(s.pool, group);
  if (isUnowned) {
    const tag = `${POOL_KEY}=${s.pool.metadata.name}`;
    return falseCondition(
      'Deleting',
      `Node group ${name} does not have the tag ${tag}, so it is not deleted. The operator reads it again before it removes the finalizer.`,
      'working',
    );
  }
  const details = waiting || readyNodes(s);
  const message = (details ? undefined : gone) ?? `Node group ${name} is being deleted.${details}`;
  return falseCondition('Deleting', message, 'working');
}

/** Whether EKS said, at least once, that it does not have the group. */
function isDeleted({ group }: EksState): boolean {
  return group.kind === 'absent' || (group.kind === 'unconfirmed' && group.certainty.contradiction === 'absent');
}

/** Says why a pool waits whose group is not found. */
function readyNodes(s: EksState): string {
  const { poolNodes } = s;
  if (!isDeleted(s) || poolNodes.ready === 0) return '';
  return ` EKS does not have it any more, but ${count(poolNodes.ready, 'node')} with its label ${poolNodes.ready === 1 ? 'is' : 'are'} Ready.`;
}

/** What the release of a retained group still waits for. */
function pendingRelease(s: EksState): string {
  const error = observationError(s) ?? s.errors.find(({ error: { kind } }) => kind !== 'conflict')?.error;
  const first = " The operator's labels and tags are removed from it first";
  if (error) return `${first}: ${describeFailure(error)} The operator retries.`;
  const status = groupOf(s)?.status;
  return status === 'CREATING' || status === 'UPDATING' ? `${first}, once it is no longer ${status}.` : '';
}

/** Why the group or the cluster could not be read: without them, nothing is decided. */
function observationError({ group, cluster }: EksState): CallError | undefined {
  return [group, cluster].find((view) => view.kind === 'unreachable')?.error;
}

/** The error of the deletion. While EKS works on the group, it is deleted a moment later, which is not an error. */
function deletionError(s: EksState): CallError | undefined {
  return s.errors.find(({ step, error }) => step === 'deleteNodeGroup' && error.kind !== 'busy')?.error;
}
