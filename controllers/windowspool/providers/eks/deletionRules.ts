/** The rules for a pool that goes. */

import { FINALIZER } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { isClusterMismatch, isLasting } from '../../queries.ts';
import { isOwner } from '../../runtimeClass/runtimeClass.ts';
import { isOwnedBy } from './nodeGroup.ts';
import { RETAIN_PATIENCE_MS, retainedGroupSteps } from './retain.ts';

/** Ensures that a pool which waits only for other controllers' finalizers is left alone. */
export function skipWithoutFinalizer({ pool }: ObservedState) {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [];
}

/**
 * Ensures that a pool leaves its group in order: not while EKS works on it, and not at the first call that AWS did not answer. A call that
 * would fail for long, and a cluster that is another or gone, hold up nobody.
 */
export function waitForRetainedMarks(s: ObservedState): Step[] | undefined {
  const { pool, group, cluster } = s;
  if (pool.spec.deletionPolicy !== 'Retain' || isClusterMismatch(s)) return undefined;
  const error = [group, cluster].find((view) => view.kind === 'unreachable')?.error;
  if (error) return isLasting(error) || s.now >= patienceEnd(s) ? undefined : [];
  const busy = group.kind === 'seen' && ['CREATING', 'UPDATING'].includes(group.group.status);
  return busy && isOwnedBy(pool, group.group) ? [] : undefined;
}

function patienceEnd({ pool }: ObservedState): number {
  return Date.parse(pool.metadata.deletionTimestamp ?? '') + RETAIN_PATIENCE_MS;
}

/** Ensures that Retain takes the operator's marks from the group and lets the pool go; the RuntimeClass stays because nobody owns it any more. */
export function releaseRetainedGroup(s: ObservedState): Step[] | undefined {
  const { pool, runtimeClass, formerRuntimeClass } = s;
  if (pool.spec.deletionPolicy !== 'Retain') return undefined;
  const owned = [runtimeClass, formerRuntimeClass].filter((seen) => seen !== undefined && isOwner(pool, seen));
  return [
    ...retainedGroupSteps(s),
    ...owned.flatMap((seen): Step[] => (seen ? [{ kind: 'releaseRuntimeClass', seen }] : [])),
    { kind: 'removeFinalizer' },
  ];
}

/**
 * Ensures that the pool's own group goes, in whatever state it is, once the cluster is proven to be ours. A deletion that failed is shown
 * for a while before it is tried again.
 */
export function deleteOwnedGroup({ pool, group: view, cluster, now, settings }: ObservedState): Step[] | undefined {
  if (cluster.kind !== 'seen' || view.kind !== 'seen' || !isOwnedBy(pool, view.group)) return undefined;
  const { name, status, modifiedAt } = view.group;
  if (status === 'DELETING') return undefined;
  if (status === 'DELETE_FAILED' && now < modifiedAt + settings.createRetryMs) return [];
  return [{ kind: 'deleteNodeGroup', group: name, why: 'the pool is deleted' }];
}

/**
 * Ensures that the pool stays until its group is seen to be gone. A cluster that is gone took the group with it; but while nodes of the
 * group are Ready in this very cluster, EKS was asked in the wrong account or region.
 */
export function waitForDeletion({ pool, group, cluster, poolNodes }: ObservedState): Step[] | undefined {
  if (cluster.kind === 'absent') return poolNodes.ready > 0 ? [] : undefined;
  const going = group.kind === 'seen' && isOwnedBy(pool, group.group);
  return going || group.kind === 'unreachable' ? [] : undefined;
}

/** Ensures that a pool without a group of its own goes. Its RuntimeClass ends by Kubernetes' garbage collection. */
export function finishDeletion(): Step[] {
  return [{ kind: 'removeFinalizer' }];
}
