/** Reads what the plan looks at. The cluster's own objects come from the cache; AWS is asked only when there is a reason to. */

import type { WindowsPool } from './api.gen.ts';
import { type ExistingSources, observeExisting } from './existing/observeExisting.ts';
import { expectationOf, groupOf, isAwsTrouble, isDeleting, isOverdue, lateInstances } from './facts.ts';
import {
  IGNORE_PREREQUISITES_ANNOTATION,
  NODE_GROUP_LABEL,
  OS_LABEL,
  POOL_KEY,
  RETRY_ANNOTATION,
  WINDOWS,
} from './labels.ts';
import { Adoptions } from './nodeGroup/adoption.ts';
import { gatherAutoscalerFacts } from './nodeGroup/autoscalerFacts.ts';
import { isOwnedBy, nodeGroupNameOf } from './nodeGroup/nodeGroup.ts';
import type { Departures } from './nodes/departures.ts';
import { Roster } from './nodes/roster.ts';
import type { Rosters } from './nodes/rosters.ts';
import type { Expectation } from './nodes/verify.ts';
import { yearOf } from './nodes/windows.ts';
import type { OperationSight } from './operations/leavingSight.ts';
import { withCount, withOperations } from './operations/observeOperations.ts';
import { hasNodeGroup, nodeGroupIn } from './poolKind.ts';
import type { Trouble } from './ports/answer.ts';
import type { Instances, ScalingGroups } from './ports/ec2.ts';
import type { Clusters, NodeGroups, Releases } from './ports/eks.ts';
import type { NodeRecord, Nodes } from './ports/nodes.ts';
import type { Drains, Evictions } from './ports/pods.ts';
import type { PrerequisiteSources } from './ports/prerequisites.ts';
import type { RuntimeClasses } from './ports/runtimeClasses.ts';
import { scopeOf } from './prerequisites/examination.ts';
import { gatherFacts } from './prerequisites/gather.ts';
import { SharedAnswers } from './prerequisites/sharedAnswers.ts';
import { WindowsIpamLock } from './prerequisites/windowsIpamLock.ts';
import { waitsForWindowsIpam } from './prerequisites/windowsIpamRules.ts';
import { runtimeClassFor } from './runtimeClass.ts';
import type { ClusterSight, GroupSight, Settings, Situation, StepTrouble } from './situation.ts';
import { isIpamStep } from './steps.ts';
import { withStuckPods } from './upgrades/evictions.ts';
import type { Fleet } from './upgrades/fleet.ts';
import { isAheadOfCluster } from './upgrades/versionChanges.ts';

export interface Sources extends PrerequisiteSources, ExistingSources {
  readonly nodeGroups: NodeGroups;
  readonly clusters: Clusters;
  readonly instances: Instances;
  readonly scalingGroups: ScalingGroups;
  readonly releases: Releases;
  readonly nodes: Nodes;
  readonly rosters: Pick<Rosters, 'of' | 'forget'>;
  readonly runtimeClasses: RuntimeClasses;
  readonly evictions: Evictions;
  readonly drains: Drains;
  readonly fleet: Pick<Fleet, 'seenBy' | 'rest'>;
  /** The API server's version, such as `v1.36.3`; undefined until it is known. */
  readonly serverVersion: () => string | undefined;
}

/** A new release comes once in weeks: it is asked for again at one look of so many. */
const RARELY = 6;

/** What AWS said of a pool at one look. */
export interface Sight {
  readonly group: GroupSight;
  /** The operator's update that ended well just before. */
  readonly update: Situation['update'];
  readonly prerequisites: Situation['prerequisites'];
  readonly instances: Situation['instances'];
  readonly newestRelease: Situation['newestRelease'];
  readonly autoscaler: Situation['autoscaler'];
  /** What AWS refused then: not asked again before the next look. */
  readonly troubles: readonly StepTrouble[];
}

interface Entry {
  /** When AWS was asked, in epoch milliseconds. */
  readonly at: number;
  readonly sight: Sight;
  readonly wanted: string;
  /** Since when the group has been seen in its status, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/**
 * What AWS said of each pool, so that a node's event costs no call. Kept in memory only: after a restart everything is looked at
 * again.
 */
export class Sights {
  readonly #entries = new Map<string, Entry>();
  cluster: ClusterSight | undefined;
  /** What many pools ask alike. */
  readonly shared = new SharedAnswers();
  readonly adoptions = new Adoptions();
  readonly windowsIpam = new WindowsIpamLock();
  /** What was last seen of nodes that go, by pool. */
  readonly operations = new Map<string, OperationSight>();

  /** What was seen before, while nothing asks for another look: the spec is the same and it is not time. */
  current(pool: WindowsPool, now: number): Sight | undefined {
    const entry = this.#entries.get(pool.metadata.name);
    return entry?.wanted === wantedOf(pool) && now < entry.until ? entry.sight : undefined;
  }

  /**
   * What AWS has refused since a time (epoch milliseconds) to end of instances that never became nodes: told also after another look, until it
   * was tried again.
   */
  refusedEnds(pool: WindowsPool, since: number): readonly StepTrouble[] {
    const entry = this.#entries.get(pool.metadata.name);
    if (entry?.wanted !== wantedOf(pool)) return [];
    return entry.sight.troubles.filter(({ step, at }) => step === 'endLateInstance' && at >= since);
  }

  last(name: string): GroupSight | undefined {
    return this.#entries.get(name)?.sight.group;
  }

  /**
   * How old an answer may be when everything is asked, in milliseconds: half the poll interval, so that pools that look at the same time share it.
   * Of a group that exists, polls can come sooner than that, and each of them is fresh: it is younger than the pool's last look.
   */
  completeAge({ pool, group, settings, now }: Situation): number {
    if (group.kind === 'absent') return settings.pollMs / 2;
    const lookedAt = this.#entries.get(pool.metadata.name)?.at ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, Math.min(settings.pollMs / 2, now - lookedAt));
  }

  /** Whether EKS has created the group since the pool's last look, as far as this process knows. */
  isNewlyCreated({ pool, group }: Situation): boolean {
    if (group.kind !== 'seen' || group.group.status === 'CREATING') return false;
    const last = this.last(pool.metadata.name);
    const before = last && groupOf({ group: last });
    return before === undefined || before.status === 'CREATING';
  }

  /** When the next look is due, in epoch milliseconds. */
  dueAt(name: string): number {
    return this.#entries.get(name)?.until ?? 0;
  }

  /**
   * Since when this process has seen the group of the situation in its status, in epoch milliseconds. `begun`: EKS has just accepted another
   * operation, which the status alone may not show.
   */
  statusSince({ pool, group }: Situation, begun: boolean, now: number): number {
    const entry = this.#entries.get(pool.metadata.name);
    return entry && !begun && statusOf(entry.sight.group) === statusOf(group) ? entry.since : now;
  }

  /** Keeps what AWS said in a situation until the next look is due. Times are epoch milliseconds. */
  keep({ pool, troubles, ...seen }: Situation, since: number, until: number): void {
    const { group, prerequisites, instances, newestRelease, autoscaler } = seen;
    const kept = troubles.filter((entry) => isAwsTrouble(entry) || isIpamStep({ kind: entry.step }));
    const update = seen.update?.status === 'Successful' ? seen.update : undefined;
    const sight = { group, update, prerequisites, instances, newestRelease, autoscaler, troubles: kept };
    this.#entries.set(pool.metadata.name, { at: seen.now, sight, wanted: wantedOf(pool), since, until });
  }

  /** Forgets a pool that is gone, and what others saw of its group: they may have waited for the name. */
  forget(name: string): void {
    this.#entries.delete(name);
    this.operations.delete(name);
    for (const [other, { sight }] of this.#entries) {
      if (sight.group.kind === 'seen' && sight.group.group.tags[POOL_KEY] === name) this.#entries.delete(other);
    }
  }
}

/** The status of a group, with what tells it from one that had its name before. */
function statusOf(sight: GroupSight): string {
  return sight.kind === 'seen' ? `${sight.group.arn} ${sight.group.status}` : sight.kind;
}

/** What the user says: another look is due when that changes. */
function wantedOf(pool: WindowsPool): string {
  const { generation, annotations } = pool.metadata;
  return JSON.stringify([
    generation,
    isDeleting(pool),
    annotations?.[RETRY_ANNOTATION],
    annotations?.[IGNORE_PREREQUISITES_ANNOTATION],
  ]);
}

/** The situation of a pool, with what AWS said before or as it says now. With `before`, AWS is not asked. */
export async function observe(
  pool: WindowsPool,
  before: Sight | undefined,
  sights: Sights,
  sources: Sources,
  settings: Settings,
  now: number,
  signal: AbortSignal,
): Promise<Situation> {
  const passed = sights.operations.get(pool.metadata.name);
  if (!hasNodeGroup(pool)) return observeExisting(pool, passed, sources, settings, now, signal);
  const group = before?.group ?? (await lookAtGroup(pool, sights, sources, now, signal));
  const cluster =
    (before && sights.cluster) ??
    (await lookAtCluster(sights, clusterAge(sights, pool, group, settings), sources, now, signal));
  const serverVersion = sources.serverVersion();
  const expected = expectationOf({ pool, group, serverVersion, settings });
  const wish = runtimeClassFor(pool);
  const former = pool.status?.runtimeClass?.name;
  const roster = rosterOf(pool, group, expected, sources);
  const situation: Situation = {
    pool,
    now,
    settings,
    cluster,
    group,
    update: before?.update?.id === pool.status?.nodeGroup?.update?.id ? before?.update : undefined,
    roster,
    holding: undefined,
    prerequisites: before?.prerequisites,
    instances: before?.instances,
    newestRelease: before?.newestRelease,
    autoscaler: before?.autoscaler,
    runtimeClass: wish && sources.runtimeClasses.get(wish.name),
    formerRuntimeClass: former && former !== wish?.name ? sources.runtimeClasses.get(former) : undefined,
    serverVersion,
    fleet: sources.fleet.seenBy(pool.metadata.name),
    ipamAttempts: sights.windowsIpam.attempts,
    troubles: before?.troubles ?? sights.refusedEnds(pool, now - 2 * settings.resyncMs),
  };
  const asked = before || isDeleting(pool) ? situation : await askAws(situation, sights, sources, signal);
  const complete = before === undefined;
  const known = await withDepartures(asked, roster.departures, complete, sources, signal);
  const looked = await withOperations(known, passed, complete, sources, signal);
  return complete ? withCount(looked, sources, signal) : looked;
}

/** With all else that AWS has to be asked for. */
async function askAws(s: Situation, sights: Sights, sources: Sources, signal: AbortSignal): Promise<Situation> {
  const updated = await withStuckPods(await withUpdate(s, sources, signal), sources, signal);
  const known = needsInstances(updated) ? await withInstances(updated, sources, signal) : updated;
  const seen = scopeOf(known) === 'complete' ? await withAllThatMayBeWrong(known, sights, sources, signal) : known;
  const [prerequisites, newestRelease] = await Promise.all([
    gatherFacts(seen, sources, sights, signal),
    findNewestRelease(seen, sources, sights, signal),
  ]);
  const asked = withIpamTrouble({ ...seen, prerequisites, newestRelease }, sights);
  return withAutoscaler(asked, sights, sources, signal);
}

/** With what a try of any pool to enable Windows IPAM came to, where the pool waits for that setting. */
function withIpamTrouble(s: Situation, { windowsIpam }: Sights): Situation {
  if (!waitsForWindowsIpam(s)) return s;
  return { ...s, troubles: [...s.troubles, ...windowsIpam.troubleSince(s.now - s.settings.deniedRetryMs)] };
}

/** The newest AMI release for the pool's group. Pools of a kind share the answer, and releases come once a month. */
async function findNewestRelease(
  { pool, cluster, group, settings, now }: Situation,
  { releases }: Sources,
  { shared }: Sights,
  signal: AbortSignal,
): Promise<Situation['newestRelease']> {
  if (cluster.kind !== 'seen' || group.kind !== 'seen' || !isOwnedBy(pool, group.group)) return undefined;
  if (group.group.status !== 'ACTIVE' && group.group.status !== 'DEGRADED') return undefined;
  const { windowsVersion } = pool.spec;
  const nodeGroup = nodeGroupIn(pool.spec);
  const minor = nodeGroup.kubernetesVersion ?? cluster.cluster.kubernetesVersion;
  const ask = (own: AbortSignal) =>
    releases.newest({ year: yearOf(windowsVersion), edition: nodeGroup.edition }, minor, own);
  const question = `newest release of ${windowsVersion} ${nodeGroup.edition} ${minor}`;
  return shared.get(question, RARELY * settings.resyncMs, now, ask, signal);
}

/** The verdicts on the nodes of the pool's group. The nodes of a group that is not the pool's are not the pool's either. */
function rosterOf(pool: WindowsPool, sight: GroupSight, expected: Expectation, { rosters }: Sources): Roster {
  const group = sight.kind === 'seen' ? sight.group : sight.kind === 'unreachable' ? sight.last : undefined;
  // Without a group to look at, only the memory of one proves that the nodes are the pool's.
  const isOurs = group ? isOwnedBy(pool, group) : sight.kind === 'absent' || pool.status?.nodeGroup?.arn !== undefined;
  if (!isOurs) return new Roster([], expected, 0);
  return rosters.of(pool.metadata.name, nodeGroupNameOf(pool), expected);
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

/**
 * How old what is known of the cluster may be: it is looked at again before a group is made, when EKS says that it is gone, while a pool
 * waits for its upgrade, and else once for all pools that look at about the same time: somebody may upgrade it, or switch Auto Mode on.
 */
function clusterAge({ cluster }: Sights, pool: WindowsPool, group: GroupSight, settings: Settings): number {
  const { pollMs, resyncMs } = settings;
  const gone = group.kind === 'unreachable' && group.trouble.kind === 'gone';
  if (gone || cluster?.kind !== 'seen') return 0;
  // An AWS that does not answer is not asked for more.
  if (group.kind === 'unreachable') return Number.POSITIVE_INFINITY;
  if (isAheadOfCluster({ pool, cluster })) return pollMs / 2;
  return (group.kind === 'absent' && !isDeleting(pool) ? pollMs : resyncMs) / 2;
}

/** With the cluster as it is now, because it may be what changed, and with the instances that take addresses before they are nodes. */
async function withAllThatMayBeWrong(s: Situation, sights: Sights, sources: Sources, signal: AbortSignal) {
  const isAsked = s.troubles.some(({ step }) => step === 'describeInstances');
  const known = missesNodes(s) && !isAsked ? await withInstances(s, sources, signal) : s;
  return { ...known, cluster: await lookAtCluster(sights, sights.completeAge(s), sources, s.now, signal) };
}

/** The cluster. Pools that look at the same time share one call. */
export async function lookAtCluster(
  sights: Sights,
  maxAgeMs: number,
  { clusters }: Pick<Sources, 'clusters'>,
  now: number,
  signal: AbortSignal,
): Promise<ClusterSight> {
  const answer = await sights.shared.get('cluster', maxAgeMs, now, (own) => clusters.describe(own), signal);
  if (!answer.ok) sights.cluster = { kind: 'unreachable', trouble: answer.trouble };
  else sights.cluster = answer.value ? { kind: 'seen', cluster: answer.value } : { kind: 'absent' };
  return sights.cluster;
}

/** With the operator's own update, while its end is not known and EKS no longer works on the group. */
async function withUpdate(s: Situation, { nodeGroups }: Sources, signal: AbortSignal): Promise<Situation> {
  const memory = s.pool.status?.nodeGroup?.update;
  if (s.group.kind !== 'seen' || s.group.group.status === 'UPDATING' || memory?.status !== 'InProgress') return s;
  const answer = await nodeGroups.describeUpdate(s.group.group.name, memory.id, signal);
  if (!answer.ok) return troubled(s, 'describeUpdate', answer.trouble);
  const { id, type } = memory;
  // An update that EKS no longer knows is over; what still differs is sent again.
  return { ...s, update: answer.value ?? { id, type, status: 'Cancelled', createdAt: 0, errors: [] } };
}

/** With the group's instances. */
async function withInstances(s: Situation, { instances }: Sources, signal: AbortSignal): Promise<Situation> {
  const [scalingGroup] = groupOf(s)?.autoScalingGroups ?? [];
  if (!scalingGroup) return s;
  const answer = await instances.ofScalingGroup(scalingGroup, signal);
  return answer.ok ? { ...s, instances: answer.value } : troubled(s, 'describeInstances', answer.trouble);
}

/** Whether nodes are missing for so long that EC2 has to be asked which instances did not join. */
export function needsInstances(s: Situation): boolean {
  // The nodes of a pool that goes are meant to be missing, and nobody would ask: each event would be a look in vain.
  return !isDeleting(s.pool) && missesNodes(s) && isOverdue(s);
}

/** Whether the group has instances that nobody looked up and that may not be nodes. */
function missesNodes({ group: sight, roster, instances }: Situation): boolean {
  const group = groupOf({ group: sight });
  if (!group || group.autoScalingGroups.length === 0 || instances) return false;
  return roster.total + roster.strays.length < group.scaling.desired;
}

/** With what the cluster-autoscaler knows of the group. */
async function withAutoscaler(s: Situation, { shared }: Sights, sources: Sources, signal: AbortSignal) {
  const facts = await gatherAutoscalerFacts(s, sources, shared, signal);
  if (!facts) return s;
  return facts.ok ? { ...s, autoscaler: facts.value } : troubled(s, 'describeScalingGroups', facts.trouble);
}

/** With what became of nodes that left. Asked only while the pool misses nodes: else they went as they should. */
async function withDepartures(
  s: Situation,
  departures: Departures,
  fresh: boolean,
  { nodes }: Sources,
  signal: AbortSignal,
): Promise<Situation> {
  const group = groupOf(s);
  if (!group || !isOwnedBy(s.pool, group)) return s;
  if (isDeleting(s.pool) || s.roster.total >= group.scaling.desired) {
    departures.forget();
    return s;
  }
  if (fresh) {
    departures.doubtStrays();
    for (const instance of lateInstances(s) ?? []) departures.missed(instance);
  }
  const isOut = ({ labels }: NodeRecord) => labels[NODE_GROUP_LABEL] !== group.name || labels[OS_LABEL] !== WINDOWS;
  const trouble = await departures.read(isOut, nodes, s.now, signal);
  return trouble ? troubled(s, 'readNode', trouble) : s;
}

/** The situation with trouble that a look had. */
export function troubled(s: Situation, step: string, trouble: Trouble): Situation {
  return { ...s, troubles: [...s.troubles, { at: s.now, step, trouble }] };
}
