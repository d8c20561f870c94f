/** The condition PrerequisitesMet: whether the operator has its permissions, and the results of the checks. */

import type { WindowsPool } from '../api.gen.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Examination } from '../model/prerequisites.ts';
import type { StepError } from '../model/stepError.ts';
import type { CallError } from '../ports/callResult.ts';
import {
  blockers,
  examinationOf,
  isOfChecks,
  lastReported,
  wasHidden,
} from '../providers/eks/prerequisites/examination.ts';
import { briefRemarksOf, listed, PAGE, remarksOf } from '../providers/eks/prerequisites/remarks.ts';
import { isClusterMismatch, isDeleting } from '../queries.ts';
import type { Reason } from '../reasons.ts';
import { isAwsError } from '../steps/steps.ts';
import { count, sentence } from '../util/words.ts';

/** Whether the operator has its permissions and all prerequisites are met. */
export function prerequisitesMet(s: ObservedState): ConditionState {
  const { cluster, settings, pool } = s;
  if (isClusterMismatch(s)) return clusterMismatch(s);
  const checked = examinationOf(s);
  const failed = checked && assessFailed(s, checked);
  const denied = assessPermissions(s);
  if (denied) return failed ? withDenied(denied, failed) : denied;
  if (cluster.kind === 'unasked') {
    const message = 'The operator may do what the pool needs. Nodes that something else made need nothing of EKS.';
    return { status: 'True', reason: 'Met', message };
  }
  if (cluster.kind === 'absent') {
    const gone = pool.status?.cluster ? 'no longer knows' : 'does not know';
    const message = `EKS ${gone} a cluster ${settings.clusterName} in ${settings.region}. Check --cluster-name and --region.`;
    const workaround = isDeleting(pool) ? ' deletionPolicy: Retain lets the pool go.' : '';
    return { status: 'False', reason: 'ClusterNotFound', message: message + workaround, stalled: true };
  }
  if (cluster.kind === 'unreachable') return unavailable(cluster.error);
  const earlier = s.group.kind === 'unreachable' && !isDeleting(pool) ? assessHidden(s, s.group.error) : undefined;
  if (earlier) return earlier;
  return failed ?? (checked && assessUnchecked(pool, checked)) ?? assessMet(pool, cluster.cluster.name, checked);
}

function unavailable({ operation, message }: CallError): ConditionState {
  return {
    status: 'Unknown',
    reason: 'AWSUnavailable',
    message: sentence(`${operation} failed: ${message}`),
    working: true,
  };
}

/** The condition before a failed read of the group: no check was run, so it has not changed. */
function assessHidden(s: ObservedState, error: CallError): ConditionState | undefined {
  if (wasHidden(s)) return unavailable(error);
  const reported = lastReported(s.pool);
  if (!reported || !isOfChecks(reported.reason)) return undefined;
  return { status: reported.status, reason: reported.reason as Reason, message: reported.message };
}

/** All prerequisites are met. Remarks block nothing, so the status is True and the reason indicates them. */
function assessMet(pool: WindowsPool, cluster: string, checked: Examination | undefined): ConditionState {
  const remarks = checked ? remarksOf(pool, checked) : '';
  const reason = checked?.ignored.length ? 'PrerequisitesIgnored' : remarks ? 'MetWithWarnings' : 'Met';
  const notes = (checked?.notes ?? []).map((note) => ` ${note}`).join('');
  const message = `The operator runs in EKS cluster ${cluster} and may do what the pool needs.${notes}${remarks}`;
  return { status: 'True', reason, message };
}

function assessUnchecked(pool: WindowsPool, checked: Examination): ConditionState | undefined {
  const finding = assessUnknown(checked);
  return finding && { ...finding, message: finding.message + remarksOf(pool, checked) };
}

/** Combines a denied call with an unmet prerequisite. A denied write comes first, a denied read last. */
function withDenied(denied: ConditionState, failed: ConditionState): ConditionState {
  const [first, second] = denied.status === 'False' ? [denied, failed] : [failed, denied];
  return { ...first, message: `${first.message} ${second.message}` };
}

/** The unmet prerequisites. They stall the pool only when they block the creation of its group; an existing group is kept as it is. */
function assessFailed(s: ObservedState, checked: Examination): ConditionState | undefined {
  const { failed } = checked;
  const [first] = failed;
  if (!first) return undefined;
  const rest = assessUnknown(checked);
  // A transient error is not included: the message would change with each attempt.
  const beside = rest?.reason === 'AccessDenied' ? ` ${rest.message}` : '';
  const missing =
    failed.length === 1 ? listed(failed) : `${failed.length} prerequisites are not met. ${listed(failed)}`;
  const remarks = briefRemarksOf(s.pool, checked);
  const blocking = blockers(s);
  const passing = blocking.every(({ result }) => result.passes);
  const state = blocking.length === 0 ? {} : passing ? ({ working: true } as const) : ({ stalled: true } as const);
  return { status: 'False', reason: first.check.reason, message: missing + beside + remarks, ...state };
}

/** The prerequisites that could not be checked, which block nothing. */
function assessUnknown({ unknown }: Examination): ConditionState | undefined {
  if (unknown.length === 0) return undefined;
  const named = unknown.map(({ check, result }) => `${check.about} (${result.message})`).join(', ');
  const denied = unknown.some(({ result }) => result.right);
  const remedy = denied
    ? `Grant the rights: config/aws/iam-policy.json and config/rbac have all of them. See ${PAGE}#what-could-not-be-checked.`
    : 'It is tried again.';
  const message = `${count(unknown.length, 'prerequisite')} could not be checked: ${named}. Nothing waits for it. ${remedy}`;
  return { status: 'Unknown', reason: denied ? 'AccessDenied' : 'NotChecked', message };
}

/**
 * The missing permission, and where to grant it. Without a permission to write, the pool cannot be reconciled; without a permission to read
 * optional facts, the operator only knows less.
 */
function assessPermissions(s: ObservedState): ConditionState | undefined {
  const { errors, group, cluster } = s;
  const isRead = ({ step }: StepError) => step.startsWith('describe');
  const aws = [
    ...(group.kind === 'unreachable' ? [group.error] : []),
    ...(cluster.kind === 'unreachable' ? [cluster.error] : []),
    ...errors.filter((entry) => isAwsError(entry) && !isRead(entry)).map(({ error }) => error),
  ].find(({ kind }) => kind === 'denied');
  const other = errors.find((entry) => entry.error.kind === 'denied' && !isRead(entry))?.error;
  const read = errors.find((entry) => entry.error.kind === 'denied')?.error;
  const denied = aws ?? other ?? read;
  if (!denied) return undefined;
  const ofAws = aws !== undefined || other === undefined;
  const { role, account } = grantsOf(denied.operation);
  const fix = ofAws
    ? `Grant ${denied.action ?? 'the right'} to the operator's role; ${role} has all of them.`
    : `Grant the right to the operator's ServiceAccount; ${account} has all of them.`;
  const beforeCreation = denied === hiddenGroup(s) ? ` ${MISSING_GROUP}` : '';
  const message = `${ofAws ? 'AWS' : 'The API server'} denied ${sentence(`${denied.operation}: ${denied.message}`)} ${fix}${beforeCreation}`;
  const status = aws || other ? ({ status: 'False', working: true } as const) : ({ status: 'Unknown' } as const);
  return { ...status, reason: 'AccessDenied', message };
}

/**
 * A policy that names single node groups may deny the first read of each: no public source documents what EKS authorizes for a group that
 * does not exist.
 */
const MISSING_GROUP =
  'EKS may also deny this for a node group that does not exist yet: the statement ReadNodeGroupsAndTheirUpdates covers both.';

/** Why a node group that was never observed could not be described. */
function hiddenGroup({ group, pool }: ObservedState): CallError | undefined {
  return group.kind === 'unreachable' && pool.status?.nodeGroup?.arn === undefined ? group.error : undefined;
}

/** The files with the permissions for an operation. Those to enable Windows IPAM are separate. */
function grantsOf(operation: string): { readonly role: string; readonly account: string } {
  const isOption = operation === 'UpdateAddon' || operation === 'patch configmaps';
  if (isOption) return { role: 'config/aws/windows-ipam.json', account: 'config/windows-ipam' };
  return { role: 'config/aws/iam-policy.json', account: 'config/rbac' };
}

function clusterMismatch({ cluster, settings, pool }: ObservedState): ConditionState {
  const pinned = pool.status?.cluster?.arn;
  const wrongServer = cluster.kind === 'seen' && !cluster.cluster.isOurs;
  const message = wrongServer
    ? `EKS cluster ${settings.clusterName} in ${settings.region} has another certificate authority than the API server that the operator uses.`
    : `The pool's node group was created in ${pinned}, and the operator works for ${settings.clusterName} in ${settings.region}.`;
  const fix = 'Check --cluster-name and --region. Nothing is changed; deletionPolicy: Retain lets a deleted pool go.';
  return { status: 'False', reason: 'ClusterMismatch', message: `${message} ${fix}`, stalled: true };
}
