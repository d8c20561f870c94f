/** The rules for a pool that goes. */
import { FINALIZER } from './labels.ts';
import { isOwnedBy } from './nodeGroup.ts';
import { isOwner } from './runtimeClass.ts';
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';

/** Ensures that a pool which waits only for other controllers' finalizers is left alone. */
export function leaveWhatIsNotHeld({ pool }: Situation) {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [];
}

/** Ensures that Retain lets the pool go at once, whatever AWS says; the RuntimeClass stays because nobody owns it any more. */
export function letGoRetained({ pool, runtimeClass }: Situation): Step[] | undefined {
  if (pool.spec.deletionPolicy !== 'Retain') return undefined;
  const release: Step[] =
    runtimeClass && isOwner(pool, runtimeClass) ? [{ kind: 'releaseRuntimeClass', seen: runtimeClass }] : [];
  return [...release, { kind: 'removeFinalizer' }];
}

/** Ensures that the pool's own group goes, in whatever state it is, once the cluster is proven to be ours. */
export function deleteOwnedGroup({ pool, group, cluster }: Situation): Step[] | undefined {
  if (
    cluster.kind !== 'seen' ||
    group.kind !== 'seen' ||
    !isOwnedBy(pool, group.group) ||
    group.group.status === 'DELETING'
  )
    return undefined;
  return [{ kind: 'deleteNodeGroup', group: group.group.name, why: 'the pool is deleted' }];
}

/** Ensures that the pool stays until its group is seen to be gone. A cluster that is gone took the group with it. */
export function waitForDeletion({ pool, group, cluster }: Situation): Step[] | undefined {
  if (cluster.kind === 'absent') return undefined;
  const going = group.kind === 'seen' && isOwnedBy(pool, group.group);
  return going || group.kind === 'unreachable' ? [] : undefined;
}

/** Ensures that a pool without a group of its own goes. Its RuntimeClass ends by Kubernetes' garbage collection. */
export function finishDeletion(): Step[] {
  return [{ kind: 'removeFinalizer' }];
}
