/** Which nodes are the pool's, as far as the cache and the list of scaling groups show. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import type { Expectation, GroupMembers } from '../../../model/poolNodesView.ts';
import { PoolNodes } from '../../../nodes/poolNodes.ts';
import type { Sources } from '../../../observation/sources.ts';
import type { ScalingGroup } from '../../../ports/ec2.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { ObserveContext } from '../../provider.ts';
import { isOwnedBy, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState, ObservedNodeGroup } from '../model/groupState.ts';
import { secondIn } from '../secondGroup/secondGroup.ts';
import { SCALING_GROUPS_QUESTION } from './autoscalerFacts.ts';
import { groupOf, isUnread, ownedGroup, ownGroups } from './knownGroups.ts';
import { AwsMemory } from './nodeGroupSnapshot.ts';

/** The verification results of the nodes of the pool's groups. The nodes of a group that the pool does not own are not the pool's either. */
export function poolNodesOf(
  { pool, group, second }: Pick<EksState, 'pool' | 'group' | 'second'>,
  expected: Expectation,
  { poolNodesCache }: Sources,
): PoolNodes {
  const { nodeGroup } = pool.status ?? {};
  const names = [
    ...(mayBeOurs(pool, group, nodeGroup?.arn) ? [nodeGroupNameOf(pool)] : []),
    ...(second && mayBeOurs(pool, second, secondIn(pool)?.arn) ? [secondNameOf(pool)] : []),
  ];
  if (names.length === 0) return new PoolNodes([], expected, 0);
  return poolNodesCache.of(pool.metadata.name, names, expected);
}

/** Whether nodes with the label of the group are the pool's. Without an observed group, only its ARN in status proves that. */
function mayBeOurs(pool: WindowsPool, view: ObservedNodeGroup, arn: string | undefined): boolean {
  const group = groupOf({ group: view });
  return group ? isOwnedBy(pool, group) : view.kind === 'absent' || arn !== undefined;
}

/**
 * Counts only nodes on instances of the group's scaling groups, as one list of all scaling groups shows them, which the pools share. The list is
 * read with the group, and when a node joins whose instance it lacks. If it cannot be read, the last one applies; before the first, the label does. A group
 * that is not known now keeps its nodes: those on the instances of the group as last observed, or those with its label.
 */
export async function confirmMembers(
  known: Pick<EksState, 'pool' | 'group' | 'second'>,
  poolNodes: PoolNodes,
  isCached: boolean,
  { readCache, sources: { scalingGroups }, settings, now, signal }: ObserveContext,
): Promise<void> {
  const { pool, group, second } = known;
  const isListed = [group, second].some((view) => (ownedGroup(pool, view)?.autoScalingGroups.length ?? 0) > 0);
  const groups = ownGroups(known);
  if (!isListed) {
    // A group that EKS has only begun to create has no list yet: nodes with its label are counted, and no more.
    if (groups.length > 0)
      poolNodes.confirm({ groupOfInstance: new Map(), unlisted: new Set(groups.map(({ name }) => name)) }, now);
    return;
  }
  if (isCached && poolNodes.isConfirmed) return;
  const unread = [
    ...(isUnread(group) ? [nodeGroupNameOf(pool)] : []),
    ...(isUnread(second) ? [secondNameOf(pool)] : []),
  ];
  const { shared } = readCache;
  const { serviceTimes } = readCache.of(AwsMemory);
  for (const maxAgeMs of [settings.resyncMs / 2, 0]) {
    // An answer that is on its way may be older than the node.
    if (maxAgeMs === 0) shared.forget(SCALING_GROUPS_QUESTION);
    const ask = (own: AbortSignal) => scalingGroups.list(own);
    const listed = await shared.get(SCALING_GROUPS_QUESTION, maxAgeMs, now, ask, signal);
    // The next run asks again.
    if (!listed.ok) return;
    const members = membersIn(groups, listed.value);
    if (members.unlisted.size === groups.length) continue;
    const { groupOfInstance } = members;
    if (groups.some(({ warmPool }) => warmPool)) serviceTimes.saw(pool.metadata.name, groupOfInstance.keys(), now);
    poolNodes.confirm({ groupOfInstance, unlisted: new Set([...members.unlisted, ...unread]) }, now);
    if (poolNodes.isConfirmed && members.unlisted.size === 0) return;
  }
  poolNodes.markAsked(now);
}

/** Which instance is in which group. A group that EKS is creating has no scaling groups yet, or newer ones than the list. */
function membersIn(groups: readonly NodeGroup[], all: Readonly<Record<string, ScalingGroup>>): GroupMembers {
  const listed = groups.map(({ name, autoScalingGroups }) => {
    const found = autoScalingGroups.flatMap((scalingGroup) => all[scalingGroup] ?? []);
    return { name, isListed: found.length > 0, instances: found.flatMap(({ instances }) => instances) };
  });
  const pairs = listed.flatMap(({ name, instances }) => instances.map((id) => [id, name] as const));
  const unlisted = listed.filter(({ isListed }) => !isListed).map(({ name }) => name);
  return { groupOfInstance: new Map(pairs), unlisted: new Set(unlisted) };
}
