/** What one read of AWS returned for a pool, and what this process keeps for all pools. */
import { POOL_KEY } from '../../../api/labels.ts';
import type { Read, ReadCache, Snapshot } from '../../../observation/readCache.ts';
import { failedKindOf, isAwsError } from '../../../steps/stepKinds.ts';
import type { EksState, ObservedCluster, ObservedNodeGroup } from '../model/groupState.ts';
import { WindowsIpamLock } from '../windowsIpam/windowsIpamLock.ts';
import { ServiceTimes } from './inServiceTimes.ts';
import { groupOf } from './knownGroups.ts';

/** What one read of AWS returned for a pool. Of updates, it has the operator's that has just succeeded. */
export type AwsSnapshot = Snapshot &
  Pick<
    EksState,
    'group' | 'update' | 'prerequisites' | 'instances' | 'newestRelease' | 'autoscaler' | 'ownTemplate'
  > & { readonly second: EksState['second'] };

/** What this process knows of AWS for all pools. */
export class AwsMemory {
  cluster: ObservedCluster | undefined;
  readonly windowsIpam = new WindowsIpamLock();
  readonly serviceTimes = new ServiceTimes();

  forget(pool: string): void {
    this.serviceTimes.forget(pool);
  }
}

/** What is kept of a read until the next one. */
export function awsRead({ errors, ...seen }: EksState): Read & { readonly snapshot: AwsSnapshot } {
  const { group, second, prerequisites, instances, newestRelease, autoscaler, ownTemplate } = seen;
  const kept = errors.filter((entry) => isAwsError(entry) || failedKindOf(entry).waitsForRead);
  const update = seen.update?.status === 'Successful' ? seen.update : undefined;
  const read = { group, second, update, prerequisites, instances, newestRelease, autoscaler, ownTemplate };
  const holder = group.kind === 'seen' ? group.group.tags[POOL_KEY] : undefined;
  return { snapshot: { ...read, errors: kept }, stage: stageOf(group), ...(holder !== undefined && { holder }) };
}

/** The snapshot of a pool. Every entry of the cache for a pool with a node group is one of `awsRead`. */
export function lastSnapshot(cache: ReadCache, name: string): AwsSnapshot | undefined {
  return cache.last(name)?.snapshot as AwsSnapshot | undefined;
}

/**
 * The maximum age of a shared answer for a complete read, in milliseconds: half the poll interval, so that pools that read at the same time share
 * it. A group that exists may be polled more often, and each poll must be fresh: younger than the pool's last read.
 */
export function completeAge(cache: ReadCache, { pool, group, settings, now }: EksState): number {
  if (group.kind === 'absent') return settings.pollMs / 2;
  const readAt = cache.last(pool.metadata.name)?.at ?? Number.NEGATIVE_INFINITY;
  return Math.max(0, Math.min(settings.pollMs / 2, now - readAt));
}

/** Whether EKS finished creating the group since the pool's last read, as far as this process knows. */
export function isNewlyCreated(cache: ReadCache, { pool, group }: EksState): boolean {
  if (group.kind !== 'seen' || group.group.status === 'CREATING') return false;
  const last = lastSnapshot(cache, pool.metadata.name);
  const before = last && groupOf(last);
  return before === undefined || before.status === 'CREATING';
}

/**
 * The status of a group with its ARN, which differs for a group that is recreated under the same name, and with its owner; or the kind of the answer.
 */
function stageOf(view: ObservedNodeGroup): string {
  if (view.kind === 'unreachable') return `${view.kind} ${view.error.kind}`;
  return view.kind === 'seen' ? `${view.group.arn} ${view.group.status} ${view.group.tags[POOL_KEY]}` : view.kind;
}
