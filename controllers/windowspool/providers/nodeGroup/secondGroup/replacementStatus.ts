/** What status records of a replacement, and how conditions describe it. Pure. */
import type { FormerNodeGroup } from '../../../api/api.gen.ts';
import type { ReplacementStage } from '../../../model/disruption.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { StepError } from '../../../model/stepError.ts';
import { isDeleting, isPaused } from '../../../rules/poolQueries.ts';
import { failedKindOf } from '../../../steps/stepKinds.ts';
import { timeOf } from '../../../util/durations.ts';
import { clockTime, count, cut, describeFailure, sentence } from '../../../util/words.ts';
import { acceptsUpdates, isOwnedBy, nodeGroupNameOf, otherNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { describeUnconfirmed, READY_NODES_PATIENCE_MS } from '../observation/confirmation.ts';
import { isUnknown } from '../observation/knownGroups.ts';
import { describeFirstIssue } from '../reporting/healthIssues.ts';
import { isOpen } from './canary.ts';
import {
  canaryIn,
  canTakeOver,
  drainRetriedAt,
  formerIn,
  isDraining,
  isRecordLost,
  mayRetire,
  neededToDrain,
  nodesOfOther,
  otherGroup,
  otherGroupIn,
  verifiedInMain,
} from './replacement.ts';

/** The maximum length of the message in the schema. */
const MESSAGE_LENGTH = 1_024;

/** status.nodeGroup.former after a run; undefined when no replacement is in progress any more. */
export function formerState(outcome: Outcome<EksState>): FormerNodeGroup | undefined {
  const { after: s } = outcome;
  const { pool, former, now } = s;
  const record = formerIn(pool);
  if (!record || isForgotten(s)) return undefined;
  const { nodes: _nodes, absentSince, blocked: _blocked, ...kept } = record;
  const failure = drainFailure(outcome);
  const rest = { ...kept, ...(failure && { blocked: failure }) };
  if (former?.kind === 'seen') {
    const { arn, status, name } = former.group;
    return { ...rest, arn, status, nodes: s.poolNodes.inGroup(name).total };
  }
  if (former?.kind === 'absent') return { ...rest, absentSince: absentSince ?? timeOf(former.certainty?.since ?? now) };
  return { ...record, ...rest };
}

/** The last node of the other group that could not be drained. */
export function drainFailure({ after: { pool, now }, done }: Outcome<EksState>): FormerNodeGroup['blocked'] {
  const givenUp = done.find((step) => step.kind === 'giveUpNode');
  if (!givenUp) return otherGroupIn(pool)?.blocked;
  return { node: givenUp.node.name, message: cut(givenUp.why, MESSAGE_LENGTH), time: timeOf(now) };
}

/**
 * Whether the other group is not the pool's any more: another client removed its tag, or EKS does not have it. If it was not being deleted, or its nodes
 * are Ready, its absence must last: reads can lag behind a creation.
 */
export function isForgotten({ pool, former, now, poolNodes }: EksState): boolean {
  // A group that another client created with the name of a canary is why that canary fails.
  if (former?.kind === 'seen') return !isOwnedBy(pool, former.group) && !isNameTaken(pool);
  const { absentSince, status } = otherGroupIn(pool) ?? {};
  if (former?.kind !== 'absent') return false;
  if (status === 'DELETING' && poolNodes.inGroup(otherNameOf(pool)).ready === 0) return true;
  return absentSince !== undefined && now - Date.parse(absentSince) >= READY_NODES_PATIENCE_MS;
}

/** Whether the other group, which exists and is not the pool's, has the name of a canary that is to be created. */
function isNameTaken(pool: EksState['pool']): boolean {
  return canaryIn(pool)?.arn === undefined && isOpen({ pool });
}

/** Whether a former group or a canary exists as far as is known: a pool that is being deleted waits for it. */
export function hasOther(s: EksState): boolean {
  return (otherGroupIn(s.pool) !== undefined || isRecordLost(s)) && !isForgotten(s);
}

/** The stage; undefined when no replacement is in progress, and while it is not known. */
export function replacementStage(s: EksState): ReplacementStage | undefined {
  if (!formerIn(s.pool) || isDeleting(s.pool)) return undefined;
  const former = otherGroup(s);
  if (!former && isOtherUnknown(s)) return undefined;
  if (!former || former.status === 'DELETING' || former.status === 'DELETE_FAILED') return 'deleting';
  if (isDraining(s)) return nodesOfOther(s).length === 0 ? 'deleting' : isBlocked(s) ? 'blocked' : 'draining';
  return s.group.kind === 'seen' && s.group.group.status !== 'CREATING' ? 'verifying' : 'creating';
}

/** Whether it is not known what the other group is now. */
export function isOtherUnknown({ former }: EksState): boolean {
  return former !== undefined && isUnknown(former);
}

/** Whether the other group waits because one of its nodes could not be drained. */
export function isBlocked(s: EksState): boolean {
  const former = otherGroup(s);
  return former !== undefined && acceptsUpdates(former) && mayRetire(s) && drainRetriedAt(s) !== undefined;
}

/** How the replacement goes on, in sentences. It has no number that changes often. */
export function describeReplacement(s: EksDerived): string {
  const [main, former] = [nodeGroupNameOf(s.pool), otherNameOf(s.pool)];
  const text = `Node group ${main} replaces ${former}. ${describeStage(s, main, former)}`;
  return isPaused(s.pool) ? `${text} It continues when the pool is resumed.` : text;
}

function describeStage(s: EksDerived, main: string, former: string): string {
  const trouble = describeTrouble(s, former);
  if (trouble !== undefined) return trouble;
  switch (replacementStage(s)) {
    case 'creating':
      return `Its nodes are not changed until enough nodes of ${main} are verified.${describeThird(s, main)}`;
    case 'verifying':
      if (otherGroup(s)?.status === 'CREATING')
        return `EKS is creating ${former}, which is not needed any more. It is deleted after that.`;
      return `${verifiedInMain(s)} of ${count(neededToDrain(s), 'required node')} of ${main} verified; until then, the nodes of ${former} are not changed.${describeThird(s, main)}`;
    case 'blocked':
      return `${describeBlocked(s, ` of ${former}`)} To cancel, revert the spec.`;
    case 'draining':
      return `${describeDrain(s, ` of ${former}`)}${canTakeOver(s) ? describeThird(s, main) : ''}`;
    default:
      return `${describeDeletion(s, former)}${describeThird(s, main)}`;
  }
}

/** What keeps the operator from the other group, in a sentence or two; undefined while nothing does. */
export function describeTrouble(s: EksState, name: string): string | undefined {
  const { pool, errors, former } = s;
  const isOfOther = (entry: StepError) =>
    failedKindOf(entry).blocks === 'otherNodeGroup' && (entry.step !== 'createCanary' || canaryIn(pool) !== undefined);
  const error = errors.find(isOfOther)?.error;
  if (error && error.kind !== 'busy' && error.kind !== 'conflict')
    return `${error.operation} of node group ${name} failed: ${sentence(error.message)} The operator retries.`;
  if (former?.kind === 'unconfirmed') return describeUnconfirmed(s, former);
  return former?.kind === 'unreachable'
    ? `Node group ${name} cannot be read: ${describeFailure(former.error)}`
    : undefined;
}

/** Why the drain of the other group waits, in two sentences. `ofGroup`: what follows the node, such as ` of web`. */
export function describeBlocked(s: EksState, ofGroup = ''): string {
  const { node = '', message = '' } = otherGroupIn(s.pool)?.blocked ?? {};
  const next = clockTime(drainRetriedAt(s) ?? s.now);
  return `Node ${node}${ofGroup} was not drained: ${sentence(message)} Next attempt at ${next}.`;
}

/** How the drain of the other group goes on, in a sentence or two. `ofGroup`: what follows the nodes, such as ` of web`. */
export function describeDrain(s: EksState, ofGroup = ''): string {
  const left = `${count(nodesOfOther(s).length, 'node')}${ofGroup} left to drain.`;
  if (otherGroup(s)?.status === 'UPDATING')
    return `${left} The drain continues when EKS has finished an update of the group.`;
  if (canTakeOver(s)) return left;
  const needed = neededToDrain(s);
  return `${left} The drain continues when ${count(needed, 'node')} of ${nodeGroupNameOf(s.pool)} ${needed === 1 ? 'is' : 'are'} verified.`;
}

/** How the deletion of the other group goes on, in a sentence or two. */
export function describeDeletion(s: EksState, name: string): string {
  const other = otherGroup(s);
  if (other?.status !== 'DELETE_FAILED') return `Node group ${name} is being deleted.`;
  const next = clockTime(other.modifiedAt + s.settings.createRetryMs);
  return `EKS could not delete node group ${name}: ${sentence(describeFirstIssue(other))} Next attempt at ${next}.`;
}

/** Says what happens to a change of the spec that came during the replacement. */
function describeThird(s: EksDerived, main: string): string {
  if (s.group.kind !== 'seen' || s.due.differences.immutable.length === 0) return '';
  return formerIn(s.pool)?.successorServed || isDraining(s)
    ? ` The spec has changed again: ${main} is replaced after that.`
    : ` The spec has changed again: ${main} is deleted and created again.`;
}

/** The reason of UpToDate during a replacement. */
export function replacementReason(s: EksState): 'Replacing' | 'ReplacementBlocked' {
  return replacementStage(s) === 'blocked' ? 'ReplacementBlocked' : 'Replacing';
}
