/** How far the replacement or the canary of a node group is, and how conditions describe it. Pure. */
import { NODE_GROUP_LABEL } from '../../../api/labels.ts';
import type { CanaryStage } from '../../../model/disruption.ts';
import type { StepError } from '../../../model/stepError.ts';
import { isDeleting, isPaused } from '../../../rules/poolQueries.ts';
import { failedKindOf } from '../../../steps/stepKinds.ts';
import { timeOf } from '../../../util/durations.ts';
import { clockTime, count, describeFailure, sentence } from '../../../util/words.ts';
import { acceptsUpdates, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import { isTemplateKnown } from '../launchTemplate/desiredLaunchSettings.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { describeUnconfirmed } from '../observation/confirmation.ts';
import { groupOf, isUnknown } from '../observation/knownGroups.ts';
import { describeFirstIssue } from '../reporting/healthIssues.ts';
import { canarySpecIn, describeTried, hasPassed, isWhole, passesAt } from './canary.ts';
import { factsOf } from './phases.ts';
import {
  canaryIn,
  canTakeOver,
  drainRetriedAt,
  isDraining,
  mayRetire,
  neededToDrain,
  nodesOfSecond,
  replacementIn,
  secondGroup,
  secondIn,
  unlistedNode,
  verifiedInMain,
} from './secondGroup.ts';

/** The stage of a replacement or of a canary; undefined when there is none, and while it is not known. */
export function stageOf(s: EksDerived): CanaryStage | undefined {
  const second = secondGroup(s);
  const isReplacement = replacementIn(s.pool) !== undefined;
  if (!secondIn(s.pool) || isDeleting(s.pool) || (!second && s.second && isUnknown(s.second))) return undefined;
  const isInDeletion = !second || second.status === 'DELETING' || second.status === 'DELETE_FAILED';
  if (isDraining(s)) {
    if (isInDeletion || nodesOfSecond(s).length === 0) return 'deleting';
    return acceptsUpdates(second) && mayRetire(s) && drainRetriedAt(s) !== undefined ? 'blocked' : 'draining';
  }
  if (isReplacement && isInDeletion) return 'deleting';
  const made = isReplacement ? (s.group.kind === 'seen' ? s.group.group : undefined) : second;
  if (!made || made.status === 'CREATING') return 'creating';
  if (isReplacement || !isWhole(s)) return 'verifying';
  return hasPassed(s) ? 'passed' : 'waiting';
}

/** The reason of a condition or a wait. */
export function reasonOf(s: EksDerived) {
  const isBlocked = stageOf(s) === 'blocked';
  if (canaryIn(s.pool)) return isBlocked ? 'CanaryBlocked' : 'CanaryRunning';
  return isBlocked ? 'ReplacementBlocked' : 'Replacing';
}

/** How the replacement or the canary goes on, in sentences. They have no number that changes often. */
export function describeSecondGroup(s: EksDerived): string {
  const text = `${describePurpose(s)} ${describeTrouble(s) ?? describeStage(s)}`;
  return isPaused(s.pool) ? `${text} It continues when the pool is resumed.` : text;
}

function describePurpose({ pool }: EksState): string {
  const canary = canaryIn(pool);
  if (!canary) return `Node group ${nodeGroupNameOf(pool)} replaces ${secondNameOf(pool)}.`;
  const { name, templateVersion: version } = canary;
  if (isDraining({ pool })) return `Canary ${name} has ended.`;
  const tried = describeTried({ ...canary, ...(version !== undefined && { launchTemplate: { version } }) });
  return `Canary ${name} tries ${tried}.`;
}

function describeStage(s: EksDerived): string {
  const isReplacement = replacementIn(s.pool) !== undefined;
  const stage = stageOf(s);
  switch (stage) {
    case 'blocked':
      return `${describeBlocked(s)}${isReplacement ? ' To cancel, revert the spec.' : ''}`;
    case 'draining':
      return `${describeDrain(s)}${canTakeOver(s) ? describeThird(s) : ''}`;
    case undefined:
    case 'deleting':
      return `${describeDeletion(s)}${describeThird(s)}`;
    default:
      return isReplacement ? describeReplacement(s, stage) : describeCanary(s, stage);
  }
}

function describeReplacement(s: EksDerived, stage: CanaryStage): string {
  const [main, old] = [nodeGroupNameOf(s.pool), secondNameOf(s.pool)];
  if (stage === 'creating')
    return `Its nodes are not changed until enough nodes of ${main} are verified.${describeThird(s)}`;
  if (secondGroup(s)?.status === 'CREATING')
    return `EKS is creating ${old}, which is not needed any more. It is deleted after that.`;
  return `${verifiedInMain(s)} of ${count(neededToDrain(s), 'required node')} of ${main} verified; until then, the nodes of ${old} are not changed.${describeThird(s)}`;
}

function describeCanary(s: EksDerived, stage: CanaryStage): string {
  const [main, name] = [nodeGroupNameOf(s.pool), secondNameOf(s.pool)];
  const { nodes = 0, soakDuration = '' } = canarySpecIn(s.pool.spec) ?? {};
  const all = `${groupOf({ group: s.second ?? { kind: 'absent' } })?.scaling.desiredSize ?? nodes}`;
  switch (stage) {
    case 'creating':
      if (s.second?.kind === 'absent' && canaryIn(s.pool)?.arn)
        return `EKS does not have node group ${name} any more. The canary ends if that lasts.`;
      if (s.due.prerequisites.blocking.length > 0)
        return 'It is created when the prerequisites are met. See PrerequisitesMet.';
      if (!isTemplateKnown(s) && !secondGroup(s)) return 'It is created when the launch template of the pool is read.';
      return `Node group ${main} is not updated until the nodes of the canary have been verified for ${soakDuration}.`;
    case 'verifying':
      return `${s.poolNodes.inGroup(name).verified} of ${all} nodes verified; node group ${main} is not updated until they have been verified for ${soakDuration}.`;
    case 'waiting':
      return `Node group ${main} is updated after ${whenPassed(s)}, if all nodes of the canary stay verified until then.`;
    default:
      return `Its nodes have been verified for ${soakDuration}. Node group ${main} is updated next.`;
  }
}

/** When the canary passes: a time of day if that is unambiguous. */
function whenPassed(s: EksState): string {
  const at = passesAt(s) ?? s.now;
  return at - s.now < DAY_MS ? clockTime(at) : timeOf(at);
}

const DAY_MS = 86_400_000;

/** What keeps the operator from the second group, in a sentence or two; undefined while nothing does. */
function describeTrouble(s: EksState): string | undefined {
  const { pool, errors, second } = s;
  const name = secondNameOf(pool);
  const isOfSecond = (entry: StepError) =>
    failedKindOf(entry).blocks === 'secondNodeGroup' && (entry.step !== 'createCanary' || canaryIn(pool) !== undefined);
  const error = errors.find(isOfSecond)?.error;
  if (error && error.kind !== 'busy' && error.kind !== 'conflict')
    return `${error.operation} of node group ${name} failed: ${sentence(error.message)} The operator retries.`;
  if (second?.kind === 'unconfirmed') return describeUnconfirmed(s, second);
  const unlisted = isDraining(s) && nodesOfSecond(s).length === 0 ? unlistedNode(s) : undefined;
  if (unlisted) {
    const label = `${NODE_GROUP_LABEL}=${name}`;
    return `Node ${unlisted.name} is Ready and has the label ${label}, but the last list of EC2 Auto Scaling does not have its instance in node group ${name}, so the node group is not deleted. If the node is not one of the group, remove the label: kubectl label node ${unlisted.name} ${NODE_GROUP_LABEL}-`;
  }
  return second?.kind === 'unreachable'
    ? `Node group ${name} cannot be read: ${describeFailure(second.error)}`
    : undefined;
}

/** In a replacement, the nodes of both groups are in the pool: a text about some of them has the name of their group. */
function ofOld({ pool }: EksState): string {
  return replacementIn(pool) ? ` of ${secondNameOf(pool)}` : '';
}

function describeBlocked(s: EksState): string {
  const { node = '', message = '' } = secondIn(s.pool)?.blocked ?? {};
  const next = clockTime(drainRetriedAt(s) ?? s.now);
  return `Node ${node}${ofOld(s)} was not drained: ${sentence(message)} Next attempt at ${next}.`;
}

function describeDrain(s: EksState): string {
  const left = `${count(nodesOfSecond(s).length, 'node')}${ofOld(s)} left to drain.`;
  if (secondGroup(s)?.status === 'UPDATING')
    return `${left} The drain continues when EKS has finished an update of the group.`;
  if (canTakeOver(s)) return left;
  const needed = neededToDrain(s);
  return `${left} The drain continues when ${count(needed, 'node')} of ${nodeGroupNameOf(s.pool)} ${needed === 1 ? 'is' : 'are'} verified.`;
}

function describeDeletion(s: EksState): string {
  const [second, name] = [secondGroup(s), secondNameOf(s.pool)];
  if (second?.status !== 'DELETE_FAILED') return `Node group ${name} is being deleted.`;
  const next = clockTime(second.modifiedAt + s.settings.createRetryMs);
  return `EKS could not delete node group ${name}: ${sentence(describeFirstIssue(second))} Next attempt at ${next}.`;
}

/** Says what happens to a change of the spec that came during the replacement. */
function describeThird(s: EksDerived): string {
  const record = replacementIn(s.pool);
  if (!record || s.group.kind !== 'seen' || s.due.differences.immutable.length === 0) return '';
  const main = nodeGroupNameOf(s.pool);
  return factsOf(record).served === 'second'
    ? ` The spec has changed again: ${main} is deleted and created again.`
    : ` The spec has changed again: ${main} is replaced after that.`;
}
