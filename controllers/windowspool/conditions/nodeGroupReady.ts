/** The condition NodeGroupReady. */

import { waitsForBudget } from '../disruption/reservation.ts';
import { POOL_KEY, RETRY_ANNOTATION } from '../labels.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import type { CallError, CallErrorKind } from '../ports/callResult.ts';
import type { NodeGroup } from '../ports/eks.ts';
import { adoptionOf } from '../providers/eks/adoption.ts';
import { describeRetry, failedAutomaticUpdate, failedTargetOf } from '../providers/eks/failedTarget.ts';
import { configChangeFor, tagChangeFor } from '../providers/eks/groupChanges.ts';
import { describeIssues, remediesFor } from '../providers/eks/healthIssues.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf } from '../providers/eks/nodeGroup.ts';
import { likelyCause } from '../providers/eks/prerequisites/causes.ts';
import { blockers } from '../providers/eks/prerequisites/examination.ts';
import { nextVersionChange } from '../providers/eks/upgrades/automaticUpdates.ts';
import { groupOf, isClusterMismatch, isDeleting, isPaused } from '../queries.ts';
import type { Reason } from '../reasons.ts';
import { describeChange, describeVersionChange } from '../steps/describeChange.ts';
import { count, joined, sentence } from '../util/words.ts';

/** A single failed read does not change the condition; errors that last this long do. In milliseconds. */
const UNREACHABLE_SHOWN_AFTER_MS = 60_000;

/** Whether the node group exists, is the pool's, and runs nodes. */
export function nodeGroupReady(s: ObservedState): ConditionState {
  const name = nodeGroupNameOf(s.pool);
  if (isDeleting(s.pool) && (s.pool.spec.deletionPolicy === 'Retain' || !isClusterMismatch(s))) {
    return assessDeletion(s, name);
  }
  if (isClusterMismatch(s)) {
    return {
      status: 'Unknown',
      reason: 'ClusterMismatch',
      message: `Node group ${name} is not looked at: this is not the pool's cluster.`,
    };
  }
  const unreachable = assessUnreachable(s, name);
  if (unreachable) return unreachable;
  const group = groupOf(s);
  const failed = assessErrors(s, name, group);
  if (failed) return failed;
  if (!group && blockers(s).length > 0) {
    const message = `Node group ${name} is created when its prerequisites are met: see PrerequisitesMet.`;
    return { status: 'False', reason: 'Pending', message };
  }
  if (!group)
    return {
      status: 'False',
      reason: 'Creating',
      message: isPaused(s.pool)
        ? `There is no node group ${name}, and none is created while the pool is paused.`
        : `Node group ${name} is about to be created.`,
      working: true,
    };
  if (!isOwnedBy(s.pool, group)) return notOwned(s, group);
  return assessStatus(s, group);
}

function assessUnreachable({ group, now }: ObservedState, name: string): ConditionState | undefined {
  if (group.kind !== 'unreachable') return undefined;
  const lasting = now - group.since >= UNREACHABLE_SHOWN_AFTER_MS;
  if (group.last && !lasting) return undefined;
  const last = group.last ? ` It was ${group.last.status} when it was last seen.` : '';
  const message = `Node group ${name} can't be looked at: ${sentence(`${group.error.operation} failed: ${group.error.message}`)}${last}`;
  return {
    status: 'Unknown',
    reason: group.error.kind === 'denied' ? 'AccessDenied' : 'AWSUnavailable',
    message,
    working: true,
  };
}

function notOwned({ pool }: ObservedState, group: NodeGroup): ConditionState {
  const { name, tags, status } = group;
  const adoption = adoptionOf(pool, group);
  if (status === 'DELETING') {
    const message = `A node group ${name} that is not the pool's is being deleted. The pool makes its own when it is gone${isPaused(pool) ? ' and the pool is resumed' : ''}.`;
    return { status: 'False', reason: adoption.kind === 'wait' ? 'Adopting' : 'NotOwned', message, working: true };
  }
  const otherName = 'spec.nodeGroup.name to a name that is free, or delete that group.';
  if (adoption.kind === 'refused') {
    const message = `Node group ${name} is not adopted: ${adoption.why}. It is never changed. Set ${otherName}`;
    return { status: 'False', reason: 'AdoptionRefused', message, stalled: true };
  }
  if (adoption.kind !== 'forbidden') {
    const waits = [
      ...(adoption.kind === 'wait' ? [`it is no longer ${status}`] : []),
      ...(isPaused(pool) ? ['the pool is resumed'] : []),
    ];
    const when = waits.length > 0 ? ` when ${joined(waits)}` : '';
    const message = `Node group ${name} belongs to no pool and is adopted${when}.`;
    return { status: 'False', reason: 'Adopting', message, working: true };
  }
  const owner = tags[POOL_KEY];
  const whose = owner ? `belongs to WindowsPool ${owner}` : `has no tag ${POOL_KEY}=${pool.metadata.name}`;
  const takeOver = owner ? '' : 'spec.nodeGroup.adoption: IfUnowned to take it over, or ';
  const message = `A node group ${name} exists that ${whose}. It is never changed. Set ${takeOver}${otherName}`;
  return { status: 'False', reason: 'NotOwned', message, stalled: true };
}

/** Reasons for errors of a change of the group; all other errors mean that AWS is unavailable. */
const errorReasons: Readonly<Partial<Record<CallErrorKind, Reason>>> = {
  denied: 'AccessDenied',
  limit: 'QuotaExceeded',
  refused: 'UpdateRefused',
  unknown: 'UpdateRefused',
};

/** The error of the last change, in this run or before. */
function assessErrors(s: ObservedState, name: string, group: NodeGroup | undefined): ConditionState | undefined {
  const failed = failedTargetOf(s);
  if (failed) {
    const again = group
      ? describeRetry(failed)
      : `It is tried again after a while, and at once when the spec or the annotation ${RETRY_ANNOTATION} changes.`;
    return {
      status: 'False',
      reason: failed.reason as Reason,
      message: `${sentence(failed.message)} ${again}`,
      stalled: true,
    };
  }
  const error = s.errors.find(
    (entry) =>
      (entry.step.endsWith('NodeGroup') ||
        ['createAccessEntry', 'updateConfig', 'updateNodeGroupVersion', 'correctTags'].includes(entry.step)) &&
      !isReleaseAwaited(s, entry),
  )?.error;
  if (!error || error.kind === 'busy' || error.kind === 'conflict') return undefined;
  return {
    status: group ? 'Unknown' : 'False',
    reason: errorReasons[error.kind] ?? 'AWSUnavailable',
    message: sentence(`${error.operation} of node group ${name} failed: ${error.message}`),
    working: true,
  };
}

/** Whether the error means that EKS does not offer the newest release yet: UpToDate reports it, and nothing that the spec names is missing. */
function isReleaseAwaited(s: ObservedState, { step, target, error }: StepError): boolean {
  if (step !== 'updateNodeGroupVersion' || !error.passes || target === undefined) return false;
  return failedAutomaticUpdate(s)?.target === target;
}

function assessStatus(s: ObservedState, group: NodeGroup): ConditionState {
  const differences = immutableDifferences(s.pool, group);
  switch (group.status) {
    case 'CREATING':
      return {
        status: 'False',
        reason: 'Creating',
        message: `EKS is creating node group ${group.name}.`,
        working: true,
      };
    case 'DELETING':
      return {
        status: 'False',
        reason: 'Deleting',
        message: `Node group ${group.name} is being deleted. It is created anew when it is gone.`,
        working: true,
      };
    case 'CREATE_FAILED': {
      const retry = 'Mend the cause; the group is created anew after a while, and at once when the spec changes.';
      return {
        status: 'False',
        reason: 'CreateFailed',
        message: `EKS could not create node group ${group.name}: ${describeIssues(group)} ${retry}${likelyCause(s, ['GroupBroken'])}`,
        stalled: true,
      };
    }
    case 'DELETE_FAILED':
      return {
        status: 'False',
        reason: 'DeleteFailed',
        message: `EKS could not delete node group ${group.name}: ${describeIssues(group)} It is tried again.`,
        stalled: true,
      };
    default:
      if (differences.length > 0) {
        const message = `Node group ${group.name} differs in what EKS cannot change: ${sentence(joined(differences))} Put the spec right, or create another pool.`;
        return { status: 'False', reason: 'ImmutableDifference', message, stalled: true };
      }
      return withOpenChange(s, group, assessWorking(s, group));
  }
}

/** Marks a group with a pending change as being worked on, whatever its status: Ready alone does not mean that all changes are done. */
function withOpenChange(s: ObservedState, group: NodeGroup, finding: ConditionState): ConditionState {
  if (finding.working || isPaused(s.pool)) return finding;
  const version = waitsForBudget(s) ? undefined : nextVersionChange(s);
  const change = configChangeFor(s.pool, group);
  const tags = tagChangeFor(s.pool, group);
  if (!version && !change && !tags) return finding;
  const what = version ? describeVersionChange(version) : change ? describeChange(change) : 'tags';
  return { ...finding, message: `${finding.message} A change waits: ${what}.`, working: true };
}

function assessWorking(s: ObservedState, group: NodeGroup): ConditionState {
  if (group.status === 'DEGRADED') {
    const cause = likelyCause(s, ['GroupBroken']);
    return {
      status: 'False',
      reason: 'Degraded',
      message: `Node group ${group.name} is DEGRADED: ${describeIssues(group)}${cause || remediesFor(group)}${refusalOf(s)}`,
    };
  }
  if (group.status === 'UPDATING') {
    const { status, change } = s.pool.status?.nodeGroup?.update ?? {};
    const what = status === 'InProgress' && change ? `: ${change}` : '';
    return {
      status: 'True',
      reason: 'Updating',
      message: `EKS is updating node group ${group.name}${what}.${gatedUpdate(s)}`,
      working: true,
    };
  }
  const health = group.healthIssues.length > 0 ? ` Health issues: ${describeIssues(group)}` : '';
  return { status: 'True', reason: 'Active', message: `Node group ${group.name} is ACTIVE.${health}` };
}

/**
 * Warns that EKS replaces the next nodes although the new ones are still gated: it waits only for nodes that are Ready, and accepts no other setting
 * during an update. https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
 */
function gatedUpdate({ pool, poolNodes }: ObservedState): string {
  const { status, type } = pool.status?.nodeGroup?.update ?? {};
  const isRolling = status === 'InProgress' && type === 'VersionUpdate';
  if (pool.spec.verification.policy !== 'Gate' || !isRolling || poolNodes.gated === 0 || poolNodes.failing.length === 0)
    return '';
  const { name } = poolNodes.failing[0]?.node ?? { name: '' };
  return ` ${count(poolNodes.gated, 'node')} ${poolNodes.gated === 1 ? 'waits' : 'wait'} at the gate, and ${name} fails verification. EKS does not wait for the gate: it drains old nodes as soon as new ones are Ready. PodDisruptionBudgets keep pods on the old nodes. See docs/verification.md#the-gate-and-updates.`;
}

/** Reports that EKS accepts no update while the group is in this state: otherwise it is unclear why a change does not happen. */
function refusalOf({ errors }: ObservedState): string {
  const error = errors.find(({ step, error: { kind } }) => step.startsWith('update') && kind === 'busy')?.error;
  if (!error) return '';
  return ` EKS takes no update of it for now: ${sentence(error.message)} It is tried again now and then, and at once when the spec or the annotation ${RETRY_ANNOTATION} changes.`;
}

function assessDeletion(s: ObservedState, name: string): ConditionState {
  if (s.pool.spec.deletionPolicy === 'Retain') {
    return {
      status: 'False',
      reason: 'Retained',
      message: `Node group ${name} stays.${pendingRelease(s)}`,
      working: true,
    };
  }
  const workaround = 'deletionPolicy: Retain lets the pool go without it.';
  if (s.group.kind === 'seen' && s.group.group.status === 'DELETE_FAILED') {
    return {
      status: 'False',
      reason: 'DeleteFailed',
      message: `EKS could not delete node group ${name}: ${describeIssues(s.group.group)} It is tried again; ${workaround}`,
      working: true,
    };
  }
  if (isPaused(s.pool) && groupOf(s)?.status !== 'DELETING') {
    return { status: 'False', reason: 'Deleting', message: `Node group ${name} stays while the pool is paused.` };
  }
  const error = observationError(s) ?? deletionError(s);
  const waiting = error
    ? ` ${sentence(`${error.operation} failed: ${error.message}`)} It is tried again; ${workaround}`
    : '';
  return {
    status: 'False',
    reason: 'Deleting',
    message: `Node group ${name} is being deleted.${waiting}`,
    working: true,
  };
}

/** What the release of a retained group still waits for. */
function pendingRelease(s: ObservedState): string {
  const error = observationError(s) ?? s.errors.find(({ error: { kind } }) => kind !== 'conflict')?.error;
  const first = ' The labels and tags of the operator are taken from it first';
  if (error) return `${first}: ${sentence(`${error.operation} failed: ${error.message}`)} It is tried again.`;
  const status = groupOf(s)?.status;
  return status === 'CREATING' || status === 'UPDATING' ? `${first}, when it is no longer ${status}.` : '';
}

/** Why the group or the cluster could not be read: without them, nothing is decided. */
function observationError({ group, cluster }: ObservedState): CallError | undefined {
  return [group, cluster].find((view) => view.kind === 'unreachable')?.error;
}

/** The error of the deletion. While EKS works on the group, it is deleted a moment later, which is not an error. */
function deletionError(s: ObservedState): CallError | undefined {
  return s.errors.find(({ step, error }) => step === 'deleteNodeGroup' && error.kind !== 'busy')?.error;
}
