/** How many nodes a node group should have, and which of them may leave. Pure. */
import type { WindowsPool } from '../../api/api.gen.ts';
import type { Capacity, RetiringCapacity, ServingCapacity } from '../../model/capacity.ts';
import { instanceIdOf } from '../../nodes/unwatchedNodes.ts';
import type { Instance } from '../../ports/ec2.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { acceptsUpdates } from './desired/desiredNodeGroup.ts';
import type { EksState } from './model/groupState.ts';
import {
  desiredNodes,
  groupOf,
  isClusterMismatch,
  isUnknown,
  isUnread,
  lateInstances,
  ownedGroup,
} from './observation/knownGroups.ts';
import {
  canaryIn,
  isDraining,
  isRetiring,
  nodesOfSecond,
  secondGroup,
  secondIn,
  servingView,
} from './secondGroup/secondGroup.ts';

/** What the groups of the pool have. */
export function capacityOf(s: EksState): Capacity {
  const desired = desiredNodes(s);
  return {
    desired,
    size: isUnknown(s.group) && !groupOf(s) ? undefined : desired,
    serving: servingCapacity(s),
    whyNone: whyNone(s),
    ...(s.second && { idleGroups: idleGroups(s).map(({ name }) => name) }),
    retiring: retiringCapacity(s),
    unjoined: unjoinedInstances(s),
  };
}

/** The group that serves the pool, if EKS is not updating it: only then nodes may be terminated. */
function servingCapacity(s: EksState): ServingCapacity | undefined {
  const serving = servingView(s);
  const group = idleGroups(s).find(({ name }) => serving.kind === 'seen' && serving.group.name === name);
  if (!group) return undefined;
  const { total, unavailable } = secondIn(s.pool) ? s.poolNodes.inGroup(group.name) : s.poolNodes;
  const { maxUnavailable } = group.update;
  return {
    group: group.name,
    total,
    unavailable,
    desired: group.scaling.desiredSize,
    minSize: group.scaling.minSize,
    ...(maxUnavailable !== undefined && { maxUnavailable }),
  };
}

function whyNone({ group }: EksState): string {
  if (group.kind === 'unreachable') return 'the node group cannot be read';
  if (group.kind === 'unconfirmed') return 'an unexpected answer of EKS about the node group is not confirmed yet';
  return 'the node group must be ACTIVE or DEGRADED, without an update in progress';
}

function retiringCapacity(s: EksState): RetiringCapacity {
  const group = isDraining(s) ? nameOfSecond(s) : undefined;
  const isCanary = canaryIn(s.pool) !== undefined;
  return {
    ...(group !== undefined && { group }),
    leaving: isRetiring(s) ? nodesOfSecond(s) : [],
    why: whyRetired(s.pool),
    ...(!isCanary && { cancel: 'cancel the replacement of the node group by reverting the spec' }),
  };
}

/** The name of the second group. Until this process has read the group, status has it. */
function nameOfSecond(s: EksState): string | undefined {
  return (isUnread(s.second) ? secondIn(s.pool) : secondGroup(s))?.name;
}

function whyRetired(pool: WindowsPool): string {
  return canaryIn(pool) ? 'canary has ended' : 'node group is replaced';
}

/** Late instances without any node. A node that only lost the label of its group still runs, and is reported elsewhere. */
function unjoinedInstances(s: EksState): Instance[] {
  const unlabelledNodes = new Set(s.poolNodes.unlabelledNodes.map(instanceIdOf));
  return (lateInstances(s) ?? []).filter(({ id }) => !unlabelledNodes.has(id));
}

/** The pool's own groups, as observed, that EKS is not updating. */
export function idleGroups(s: EksState): NodeGroup[] {
  const { pool } = s;
  if (isClusterMismatch(s)) return [];
  const update = s.update?.status ?? pool.status?.nodeGroup?.update?.status;
  const views = [...(update === 'InProgress' ? [] : [s.group]), ...(s.second ? [s.second] : [])];
  return views.flatMap((view) => ownedGroup(pool, view) ?? []).filter(acceptsUpdates);
}
