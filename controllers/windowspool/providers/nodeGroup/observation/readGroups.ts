/** Reads the node groups of a pool, and the cluster. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { isDeleting } from '../../../rules/poolQueries.ts';
import type { ObserveContext } from '../../provider.ts';
import { nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { ObservedCluster, ObservedNodeGroup } from '../model/groupState.ts';
import { isStatusLost, secondIn } from '../secondGroup/secondGroup.ts';
import { isAheadOfCluster } from '../versions/versionChanges.ts';
import { knownMain, knownSecond, observedGroup, unreadSince } from './confirmation.ts';
import { isUnknown, ownedGroup } from './knownGroups.ts';
import { AwsMemory, lastSnapshot } from './nodeGroupSnapshot.ts';

/** The question to which SharedAnswers has the names of all node groups. */
export const GROUP_NAMES = 'node groups';

/** Reads the main group. */
export async function readGroup(pool: WindowsPool, context: ObserveContext): Promise<ObservedNodeGroup> {
  const { readCache, sources, signal } = context;
  const answer = await sources.nodeGroups.describe(nodeGroupNameOf(pool), signal);
  const before = lastSnapshot(readCache, pool.metadata.name)?.group;
  return observedGroup(pool, knownMain(pool), answer, before, context);
}

/**
 * Reads the second group: the old group of a replacement, or the canary. Status may not record it, after it was lost or came from a backup: the group exists as long
 * as EKS lists its name. Undefined if the pool has none.
 */
export async function readSecond(
  pool: WindowsPool,
  group: ObservedNodeGroup,
  context: ObserveContext,
): Promise<ObservedNodeGroup | undefined> {
  const { readCache, sources, signal } = context;
  const record = secondIn(pool);
  if (!record && !(await mayHaveSecond(pool, group, context))) return undefined;
  const answer = await sources.nodeGroups.describe(secondNameOf(pool), signal);
  const before = lastSnapshot(readCache, pool.metadata.name)?.second;
  const view = observedGroup(pool, knownSecond(pool), answer, before, context);
  const isFound = isUnknown(view) || ownedGroup(pool, view) !== undefined;
  return record || isFound ? view : undefined;
}

/** Whether a second group may exist that status does not record. */
async function mayHaveSecond(pool: WindowsPool, group: ObservedNodeGroup, context: ObserveContext): Promise<boolean> {
  const { immutableChangePolicy, update } = nodeGroupIn(pool.spec);
  if (pool.status?.nodeGroup === undefined)
    return isStatusLost(pool) || immutableChangePolicy === 'Replace' || update.canary !== undefined;
  // A list may be as old as the last resync: before anything is created or forgotten, EKS is asked for the group itself.
  if (group.kind === 'absent' && (isDeleting(pool) || pool.status.nodeGroup.arn !== undefined)) return true;
  // While AWS is unreachable, nothing more is read from it.
  if (isUnknown(group)) return false;
  const names = await readGroupNames(context);
  return names.ok && names.value.includes(secondNameOf(pool));
}

/** The names of all node groups of the cluster, read once per resync for all pools. */
function readGroupNames({
  readCache,
  sources,
  settings,
  now,
  signal,
}: ObserveContext): Promise<CallResult<readonly string[]>> {
  const ask = (own: AbortSignal) => sources.nodeGroups.names(own);
  return readCache.shared.get(GROUP_NAMES, settings.resyncMs / 2, now, ask, signal);
}

/**
 * The maximum age of the cached cluster, in milliseconds. The cluster is read again before a group is created, when EKS reports it as gone,
 * and while a pool waits for its upgrade. Otherwise one read per resync serves all pools: a user may upgrade the cluster or enable Auto
 * Mode.
 */
export function clusterAge(
  pool: WindowsPool,
  group: ObservedNodeGroup,
  { readCache, settings }: ObserveContext,
): number {
  const { cluster } = readCache.of(AwsMemory);
  const { pollMs, resyncMs } = settings;
  const gone = group.kind === 'unreachable' && group.error.kind === 'gone';
  if (gone || cluster?.kind !== 'seen') return 0;
  // While AWS is unreachable, or contradicts what was known, nothing more is read from it.
  if (isUnknown(group)) return Number.POSITIVE_INFINITY;
  if (isAheadOfCluster({ pool, cluster })) return pollMs / 2;
  return (group.kind === 'absent' && !isDeleting(pool) ? pollMs : resyncMs) / 2;
}

/** Reads the cluster unless the cached answer is younger than `maxAgeMs`. Pools that read at the same time share one call. */
export async function readCluster(
  maxAgeMs: number,
  { readCache, sources, now, signal }: Omit<ObserveContext, 'settings'>,
): Promise<ObservedCluster> {
  const ask = (own: AbortSignal) => sources.clusters.describe(own);
  const answer = await readCache.shared.get('cluster', maxAgeMs, now, ask, signal);
  const { cluster: before } = readCache.of(AwsMemory);
  const cluster: ObservedCluster = !answer.ok
    ? { kind: 'unreachable', error: answer.error, since: unreadSince(before, answer.error, now) }
    : answer.value
      ? { kind: 'seen', cluster: answer.value }
      : { kind: 'absent' };
  readCache.of(AwsMemory).cluster = cluster;
  return cluster;
}
