/** Reads what the plan looks at. The cluster's own objects come from the cache; AWS is asked only when there is a reason to. */
import type { WindowsPool } from './api.gen.ts';
import { isOverdue } from './assessNodes.ts';
import { nodeGroupNameOf } from './nodeGroup.ts';
import { groupOf } from './plan.ts';
import type { Clusters, Instances, NodeGroups, NodeGroupUpdate, Nodes, RuntimeClasses } from './ports.ts';
import { runtimeClassFor } from './runtimeClass.ts';
import type { ClusterSight, GroupSight, Settings, Situation } from './situation.ts';
import { verifyNode } from './verify.ts';

export interface Sources {
  readonly nodeGroups: NodeGroups;
  readonly clusters: Clusters;
  readonly instances: Instances;
  readonly nodes: Nodes;
  readonly runtimeClasses: RuntimeClasses;
  /** The API server's version, such as `v1.36.3`; undefined until it is known. */
  readonly serverVersion: () => string | undefined;
}

/**
 * What AWS said of each pool, so that a node's event costs no call. Kept in memory only: after a restart everything is looked at
 * again.
 */
export class Sights {
  readonly #groups = new Map<string, { sight: GroupSight; generation: number; going: boolean; until: number }>();
  cluster: ClusterSight | undefined;

  /** The group as seen before, while nothing asks for another look: the spec is the same and it is not time. */
  current(pool: WindowsPool, now: number): GroupSight | undefined {
    const entry = this.#groups.get(pool.metadata.name);
    const same = entry?.generation === pool.metadata.generation && entry.going === isGoing(pool);
    return entry && same && now < entry.until ? entry.sight : undefined;
  }

  last(name: string): GroupSight | undefined {
    return this.#groups.get(name)?.sight;
  }

  /** When the next look is due, in epoch milliseconds. */
  dueAt(name: string): number {
    return this.#groups.get(name)?.until ?? 0;
  }

  /** Keeps a sight until the next look is due, in epoch milliseconds. */
  keep(pool: WindowsPool, sight: GroupSight, until: number): void {
    this.#groups.set(pool.metadata.name, { sight, generation: pool.metadata.generation, going: isGoing(pool), until });
  }

  forget(name: string): void {
    this.#groups.delete(name);
  }
}

function isGoing(pool: WindowsPool): boolean {
  return pool.metadata.deletionTimestamp !== undefined;
}

/** The situation of a pool, with the group as given or as AWS says now. */
export async function observe(
  pool: WindowsPool,
  cached: GroupSight | undefined,
  sights: Sights,
  sources: Sources,
  settings: Settings,
  now: number,
  signal: AbortSignal,
): Promise<Situation> {
  const group = cached ?? (await lookAtGroup(pool, sights, sources, now, signal));
  const cluster = await lookAtCluster(sights, group, sources, signal);
  const nodes = sources.nodes.ofNodeGroup(nodeGroupNameOf(pool)).filter((node) => !node.deleting);
  const serverVersion = sources.serverVersion();
  const expected = { spec: pool.spec, serverVersion, joinGraceMs: settings.joinGraceMs };
  const wish = runtimeClassFor(pool);
  const former = pool.status?.runtimeClass?.name;
  const situation: Situation = {
    pool,
    now,
    settings,
    cluster,
    group,
    update: cached ? undefined : await lookAtUpdate(pool, group, sources, signal),
    nodes,
    verdicts: nodes.map((node) => verifyNode(node, expected, now)),
    instances: undefined,
    runtimeClass: wish && sources.runtimeClasses.get(wish.name),
    formerRuntimeClass: former && former !== wish?.name ? sources.runtimeClasses.get(former) : undefined,
    serverVersion,
    troubles: [],
  };
  return { ...situation, instances: await lookAtInstances(situation, sources, signal) };
}

async function lookAtGroup(
  pool: WindowsPool,
  sights: Sights,
  { nodeGroups }: Sources,
  now: number,
  signal: AbortSignal,
): Promise<GroupSight> {
  const answer = await nodeGroups.describe(nodeGroupNameOf(pool), signal);
  if (answer.ok) return answer.value ? { kind: 'seen', group: answer.value } : { kind: 'absent' };
  const before = sights.last(pool.metadata.name);
  const since = before?.kind === 'unreachable' ? before.since : now;
  const last = before?.kind === 'seen' ? before.group : before?.kind === 'unreachable' ? before.last : undefined;
  return { kind: 'unreachable', trouble: answer.trouble, since, last };
}

/** The cluster is looked at once, and again when EKS says that it is gone or when it could not be looked at. */
async function lookAtCluster(
  sights: Sights,
  group: GroupSight,
  { clusters }: Sources,
  signal: AbortSignal,
): Promise<ClusterSight> {
  const gone = group.kind === 'unreachable' && group.trouble.kind === 'gone';
  if (sights.cluster?.kind === 'seen' && !gone) return sights.cluster;
  const answer = await clusters.describe(signal);
  if (!answer.ok) sights.cluster = { kind: 'unreachable', trouble: answer.trouble };
  else sights.cluster = answer.value ? { kind: 'seen', cluster: answer.value } : { kind: 'absent' };
  return sights.cluster;
}

/** The operator's own update, while its end is not known and EKS no longer works on the group. */
async function lookAtUpdate(
  pool: WindowsPool,
  group: GroupSight,
  { nodeGroups }: Sources,
  signal: AbortSignal,
): Promise<NodeGroupUpdate | undefined> {
  const update = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || group.group.status === 'UPDATING' || update?.status !== 'InProgress') return undefined;
  const answer = await nodeGroups.describeUpdate(group.group.name, update.id, signal);
  if (!answer.ok) return undefined;
  // An update that EKS no longer knows is over; what still differs is sent again.
  return answer.value ?? { id: update.id, type: update.type, status: 'Cancelled', createdAt: 0, errors: [] };
}

/** Which instances did not join is asked only when nodes are missing for too long. */
async function lookAtInstances(
  s: Situation,
  { instances }: Sources,
  signal: AbortSignal,
): Promise<Situation['instances']> {
  const group = groupOf(s);
  const [scalingGroup] = group?.autoScalingGroups ?? [];
  if (!group || !scalingGroup || s.nodes.length >= group.scaling.desired || !isOverdue(s)) return undefined;
  const answer = await instances.ofScalingGroup(scalingGroup, signal);
  return answer.ok ? answer.value : undefined;
}
