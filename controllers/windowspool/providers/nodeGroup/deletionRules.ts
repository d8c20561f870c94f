/** Rules for a pool that is being deleted. */

import { FINALIZER } from '../../api/labels.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { isLasting } from '../../rules/poolQueries.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { isOwner } from '../../runtimeClass/runtimeClass.ts';
import { isOwnedBy } from './desired/desiredNodeGroup.ts';
import { RETAIN_PATIENCE_MS, retainedGroupSteps } from './desired/retain.ts';
import { waitForRead } from './groupRules.ts';
import { unusedTemplateSteps } from './launchTemplate/ownTemplateRules.ts';
import type { EksState, ObservedNodeGroup } from './model/groupState.ts';
import {
  certaintyOf,
  confirmAfterMs,
  confirmableAt,
  knownMain,
  READY_NODES_PATIENCE_MS,
} from './observation/confirmation.ts';
import { hasCluster, isClusterMismatch, ownedGroup } from './observation/knownGroups.ts';
import { secondGroup } from './secondGroup/secondGroup.ts';
import { hasSecond } from './secondGroup/secondGroupStatus.ts';

/** Ensures that a pool without the operator's finalizer is left alone: it waits for other controllers. */
export function skipWithoutFinalizer({ pool }: EksState) {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [];
}

/** Ensures that with deletionPolicy Retain, the second group is released like the main one, and before it. */
export function releaseSecondGroup(s: EksState): RuleResult | Step[] | undefined {
  if (s.pool.spec.deletionPolicy !== 'Retain' || isClusterMismatch(s) || !s.second) return undefined;
  const view = { ...s, group: s.second };
  if (s.second.kind === 'absent' || (s.second.kind === 'seen' && !secondGroup(s))) return undefined;
  const waits = waitForRetainedMarks(view);
  if (waits) return waits;
  const steps = retainedGroupSteps(view);
  return steps.length > 0 ? steps : undefined;
}

/**
 * Ensures that a retained group is released in order: not while EKS works on it, and not after one transient error or one odd answer of AWS.
 * A lasting error, and a cluster that is gone or not the pool's, do not block the deletion.
 */
export function waitForRetainedMarks(s: EksState): RuleResult | undefined {
  const { pool, group, cluster } = s;
  if (pool.spec.deletionPolicy !== 'Retain' || isClusterMismatch(s)) return undefined;
  // Of a cluster that does not exist, DescribeNodegroup and DescribeCluster must say the same.
  if (cluster.kind === 'absent' && group.kind === 'seen')
    return waitFor('Retained', 'time', { until: s.now + s.settings.pollMs, progress: true });
  const isOdd = certaintyOf(group).kind === 'seenOnce' && (group.kind === 'unconfirmed' || cluster.kind !== 'absent');
  if (isOdd) return waitForConfirmation(s, 'Retained');
  const isOwned = group.kind === 'seen' && isOwnedBy(pool, group.group);
  const isBusy = isOwned && ['CREATING', 'UPDATING', 'DELETING'].includes(group.group.status);
  if (isBusy) return waitFor('Retained', 'read', { progress: true });
  const unread = [group, cluster].find((view) => view.kind === 'unreachable');
  if (!unread || s.now >= patienceEnd(s)) return undefined;
  const { error, since } = unread;
  if (!isLasting(error)) return waitForRead(error, { until: patienceEnd(s) });
  const isRepeated = error.kind === 'gone' || s.now - since >= confirmAfterMs(s.settings);
  return isRepeated ? undefined : waitForRead(error);
}

function patienceEnd({ pool }: EksState): number {
  return Date.parse(pool.metadata.deletionTimestamp ?? '') + RETAIN_PATIENCE_MS;
}

/**
 * Ensures that with deletionPolicy Retain the operator's marks are removed from the group before the finalizer is. The RuntimeClass is kept,
 * without an owner.
 */
export function releaseRetainedGroup(s: EksState): Step[] | undefined {
  const { pool, runtimeClass, formerRuntimeClass } = s;
  if (pool.spec.deletionPolicy !== 'Retain') return undefined;
  const owned = [runtimeClass, formerRuntimeClass].filter((seen) => seen !== undefined && isOwner(pool, seen));
  return [
    ...retainedGroupSteps(s),
    ...unusedTemplateSteps(s),
    ...owned.flatMap((seen): Step[] => (seen ? [{ kind: 'releaseRuntimeClass', seen }] : [])),
    { kind: 'removeFinalizer' },
  ];
}

/** Ensures that a pool for which nothing was created in AWS can be deleted by an operator without an EKS cluster. */
export function finishWithoutCluster(s: EksState): Step[] | undefined {
  const isUncreated = s.pool.status?.cluster === undefined && s.poolNodes.total === 0;
  return hasCluster(s) || !isUncreated ? undefined : [{ kind: 'removeFinalizer' }];
}

/**
 * Ensures that the pool's own group is deleted in any state, once the cluster is verified. After a failed deletion, the next attempt waits
 * for `createRetryMs`, so that the failure is visible in status.
 */
export function deleteOwnedGroup(s: EksState): RuleResult | undefined {
  return deleteGroup(s, s.group, ({ name }) => ({ kind: 'deleteNodeGroup', group: name, why: 'the pool is deleted' }));
}

function deleteGroup(
  { pool, cluster, now, settings }: EksState,
  view: ObservedNodeGroup,
  step: (group: NodeGroup) => Step,
): RuleResult | undefined {
  const owned = ownedGroup(pool, view);
  if (cluster.kind !== 'seen' || !owned) return undefined;
  const { status, modifiedAt } = owned;
  if (status === 'DELETING') return undefined;
  const retriedAt = modifiedAt + settings.createRetryMs;
  if (status === 'DELETE_FAILED' && now < retriedAt) return waitFor('DeleteFailed', 'time', { until: retriedAt });
  return { steps: [step(owned)] };
}

/** Ensures that the second group is deleted too, and first, so that nothing loses sight of it. */
export function deleteSecondGroup(s: EksState): RuleResult | undefined {
  if (!secondGroup(s) || !s.second) return undefined;
  const why = 'the pool is deleted';
  return deleteGroup(s, s.second, ({ name }) => ({ kind: 'deleteSecondGroup', group: name, why, isDrained: false }));
}

/**
 * Ensures that the pool exists until its group is gone, which one odd answer of AWS does not prove: the answer must last, and as
 * long as nodes of the group are Ready, another while. A deleted cluster took the group with it; but while nodes of the group are Ready in this
 * cluster, the wrong account or region was queried.
 */
export function waitForDeletion(s: EksState): RuleResult | undefined {
  const { pool, group, cluster, poolNodes } = s;
  if (cluster.kind === 'absent') {
    if (poolNodes.ready > 0) return waitFor('ClusterNotFound', 'watch');
    const isSure = !knownMain(pool).exists || certaintyOf(group).kind === 'confirmed';
    return isSure ? undefined : waitForConfirmation(s, 'ClusterNotFound');
  }
  if (group.kind === 'unreachable') return waitForRead(group.error);
  if (hasSecond(s) || ownedGroup(pool, group))
    return cluster.kind === 'unreachable'
      ? waitForRead(cluster.error)
      : waitFor('Deleting', 'read', { progress: true });
  if (group.kind === 'unconfirmed') return waitForConfirmation(s, 'Deleting');
  if (group.kind !== 'absent' || poolNodes.ready === 0) return undefined;
  const since = group.certainty?.since ?? Date.parse(pool.metadata.deletionTimestamp ?? '');
  const until = since + READY_NODES_PATIENCE_MS;
  return s.now < until ? waitFor('Deleting', 'watch', { until, progress: true }) : undefined;
}

/** Waits until a second request confirms what EKS said of the group, or of its cluster. */
function waitForConfirmation(s: EksState, reason: 'Deleting' | 'Retained' | 'ClusterNotFound') {
  const until = confirmableAt(s.group, s.settings);
  const message = 'The operator reads it again before it removes the finalizer.';
  return waitFor(reason, 'read', { message, ...(until !== undefined && { until }), progress: true });
}

/** Ensures that a pool without a group is finalized. Its RuntimeClass is garbage-collected by Kubernetes. */
export function finishDeletion(): Step[] {
  return [{ kind: 'removeFinalizer' }];
}
