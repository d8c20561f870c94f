/** Reads what the plan looks at. The cluster's own objects come from the cache; AWS is asked only when there is a reason to. */

import type { WindowsPool } from './api.gen.ts';
import { withCount, withOperations } from './disruption/observe.ts';
import { expectationOf, groupOf, isDeleting, isOverdue, lateInstances, withError } from './facts.ts';
import {
  IGNORE_PREREQUISITES_ANNOTATION,
  NODE_GROUP_LABEL,
  OS_LABEL,
  POOL_KEY,
  RETRY_ANNOTATION,
  WINDOWS,
} from './labels.ts';
import type { DrainState } from './model/disruption.ts';
import type { ObservedCluster, ObservedNodeGroup, ObservedState, Settings } from './model/observedState.ts';
import type { Expectation } from './model/poolNodes.ts';
import type { StepError } from './model/stepError.ts';
import type { LostNodes } from './nodes/lostNodes.ts';
import { PoolNodes } from './nodes/poolNodes.ts';
import { yearOf } from './nodes/windows.ts';
import { hasNodeGroup, nodeGroupIn } from './poolKind.ts';
import type { NodeRecord } from './ports/nodes.ts';
import { Adoptions } from './providers/eks/adoption.ts';
import { gatherAutoscalerFacts } from './providers/eks/autoscalerFacts.ts';
import { isOwnedBy, nodeGroupNameOf } from './providers/eks/nodeGroup.ts';
import { scopeOf } from './providers/eks/prerequisites/examination.ts';
import { gatherFacts } from './providers/eks/prerequisites/gather.ts';
import { SharedAnswers } from './providers/eks/prerequisites/sharedAnswers.ts';
import { WindowsIpamLock } from './providers/eks/prerequisites/windowsIpamLock.ts';
import { waitsForWindowsIpam } from './providers/eks/prerequisites/windowsIpamRules.ts';
import { withStuckPods } from './providers/eks/upgrades/evictions.ts';
import { isAheadOfCluster } from './providers/eks/upgrades/versionChanges.ts';
import { observeExisting } from './providers/existing/observe.ts';
import { runtimeClassFor } from './runtimeClass/runtimeClass.ts';
import type { Sources } from './sources.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';

/** A new release comes once in weeks: it is asked for again at one look of so many. */
const RARELY = 6;

/** What AWS said of a pool at one look. */
export interface AwsSnapshot {
  readonly group: ObservedNodeGroup;
  /** The operator's update that ended well just before. */
  readonly update: ObservedState['update'];
  readonly prerequisites: ObservedState['prerequisites'];
  readonly instances: ObservedState['instances'];
  readonly newestRelease: ObservedState['newestRelease'];
  readonly autoscaler: ObservedState['autoscaler'];
  /** What AWS refused then: not asked again before the next look. */
  readonly errors: readonly StepError[];
}

interface Entry {
  /** When AWS was asked, in epoch milliseconds. */
  readonly at: number;
  readonly view: AwsSnapshot;
  readonly wanted: string;
  /** Since when the group has been seen in its status, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/**
 * What AWS said of each pool, so that a node's event costs no call. Kept in memory only: after a restart everything is looked at
 * again.
 */
export class AwsCache {
  readonly #entries = new Map<string, Entry>();
  cluster: ObservedCluster | undefined;
  /** What many pools ask alike. */
  readonly shared = new SharedAnswers();
  readonly adoptions = new Adoptions();
  readonly windowsIpam = new WindowsIpamLock();
  /** What was last seen of nodes that go, by pool. */
  readonly operations = new Map<string, DrainState>();

  /** What was seen before, while nothing asks for another look: the spec is the same and it is not time. */
  current(pool: WindowsPool, now: number): AwsSnapshot | undefined {
    const entry = this.#entries.get(pool.metadata.name);
    return entry?.wanted === specKeyOf(pool) && now < entry.until ? entry.view : undefined;
  }

  /**
   * What AWS has refused since a time (epoch milliseconds) to end of instances that never became nodes: told also after another look, until it
   * was tried again.
   */
  refusedTerminations(pool: WindowsPool, since: number): readonly StepError[] {
    const entry = this.#entries.get(pool.metadata.name);
    if (entry?.wanted !== specKeyOf(pool)) return [];
    return entry.view.errors.filter(({ step, at }) => step === 'terminateUnregistered' && at >= since);
  }

  last(name: string): ObservedNodeGroup | undefined {
    return this.#entries.get(name)?.view.group;
  }

  /**
   * How old an answer may be when everything is asked, in milliseconds: half the poll interval, so that pools that look at the same time share it.
   * Of a group that exists, polls can come sooner than that, and each of them is fresh: it is younger than the pool's last look.
   */
  completeAge({ pool, group, settings, now }: ObservedState): number {
    if (group.kind === 'absent') return settings.pollMs / 2;
    const lookedAt = this.#entries.get(pool.metadata.name)?.at ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, Math.min(settings.pollMs / 2, now - lookedAt));
  }

  /** Whether EKS has created the group since the pool's last look, as far as this process knows. */
  isNewlyCreated({ pool, group }: ObservedState): boolean {
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
  statusSince({ pool, group }: ObservedState, begun: boolean, now: number): number {
    const entry = this.#entries.get(pool.metadata.name);
    return entry && !begun && statusOf(entry.view.group) === statusOf(group) ? entry.since : now;
  }

  /** Keeps what AWS said in a situation until the next look is due. Times are epoch milliseconds. */
  keep({ pool, errors, ...seen }: ObservedState, since: number, until: number): void {
    const { group, prerequisites, instances, newestRelease, autoscaler } = seen;
    const kept = errors.filter((entry) => isAwsError(entry) || isIpamStep({ kind: entry.step }));
    const update = seen.update?.status === 'Successful' ? seen.update : undefined;
    const view = { group, update, prerequisites, instances, newestRelease, autoscaler, errors: kept };
    this.#entries.set(pool.metadata.name, { at: seen.now, view, wanted: specKeyOf(pool), since, until });
  }

  /** Forgets a pool that is gone, and what others saw of its group: they may have waited for the name. */
  forget(name: string): void {
    this.#entries.delete(name);
    this.operations.delete(name);
    for (const [other, { view }] of this.#entries) {
      if (view.group.kind === 'seen' && view.group.group.tags[POOL_KEY] === name) this.#entries.delete(other);
    }
  }
}

/** The status of a group, with what tells it from one that had its name before. */
function statusOf(view: ObservedNodeGroup): string {
  return view.kind === 'seen' ? `${view.group.arn} ${view.group.status}` : view.kind;
}

/** What the user says: another look is due when that changes. */
function specKeyOf(pool: WindowsPool): string {
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
  before: AwsSnapshot | undefined,
  awsCache: AwsCache,
  sources: Sources,
  settings: Settings,
  now: number,
  signal: AbortSignal,
): Promise<ObservedState> {
  const passed = awsCache.operations.get(pool.metadata.name);
  if (!hasNodeGroup(pool)) return observeExisting(pool, passed, sources, settings, now, signal);
  const group = before?.group ?? (await lookAtGroup(pool, awsCache, sources, now, signal));
  const cluster =
    (before && awsCache.cluster) ??
    (await lookAtCluster(awsCache, clusterAge(awsCache, pool, group, settings), sources, now, signal));
  const serverVersion = sources.serverVersion();
  const expected = expectationOf({ pool, group, serverVersion, settings });
  const desired = runtimeClassFor(pool);
  const former = pool.status?.runtimeClass?.name;
  const poolNodes = poolNodesOf(pool, group, expected, sources);
  const observed: ObservedState = {
    pool,
    now,
    settings,
    cluster,
    group,
    update: before?.update?.id === pool.status?.nodeGroup?.update?.id ? before?.update : undefined,
    poolNodes,
    membership: undefined,
    prerequisites: before?.prerequisites,
    instances: before?.instances,
    newestRelease: before?.newestRelease,
    autoscaler: before?.autoscaler,
    runtimeClass: desired && sources.runtimeClasses.get(desired.name),
    formerRuntimeClass: former && former !== desired?.name ? sources.runtimeClasses.get(former) : undefined,
    serverVersion,
    fleet: sources.fleet.seenBy(pool.metadata.name),
    ipamAttempts: awsCache.windowsIpam.attempts,
    errors: before?.errors ?? awsCache.refusedTerminations(pool, now - 2 * settings.resyncMs),
  };
  const asked = before || isDeleting(pool) ? observed : await askAws(observed, awsCache, sources, signal);
  const complete = before === undefined;
  const known = await withLostNodes(asked, poolNodes.departures, complete, sources, signal);
  const looked = await withOperations(known, passed, complete, sources, signal);
  return complete ? withCount(looked, sources, signal) : looked;
}

/** With all else that AWS has to be asked for. */
async function askAws(
  s: ObservedState,
  awsCache: AwsCache,
  sources: Sources,
  signal: AbortSignal,
): Promise<ObservedState> {
  const updated = await withStuckPods(await withUpdate(s, sources, signal), sources, signal);
  const known = needsInstances(updated) ? await withInstances(updated, sources, signal) : updated;
  const seen = scopeOf(known) === 'complete' ? await withAllThatMayBeWrong(known, awsCache, sources, signal) : known;
  const [prerequisites, newestRelease] = await Promise.all([
    gatherFacts(seen, sources, awsCache, signal),
    findNewestRelease(seen, sources, awsCache, signal),
  ]);
  const asked = withIpamError({ ...seen, prerequisites, newestRelease }, awsCache);
  return withAutoscaler(asked, awsCache, sources, signal);
}

/** With what a try of any pool to enable Windows IPAM came to, where the pool waits for that setting. */
function withIpamError(s: ObservedState, { windowsIpam }: AwsCache): ObservedState {
  if (!waitsForWindowsIpam(s)) return s;
  return { ...s, errors: [...s.errors, ...windowsIpam.errorSince(s.now - s.settings.deniedRetryMs)] };
}

/** The newest AMI release for the pool's group. Pools of a kind share the answer, and releases come once a month. */
async function findNewestRelease(
  { pool, cluster, group, settings, now }: ObservedState,
  { releases }: Sources,
  { shared }: AwsCache,
  signal: AbortSignal,
): Promise<ObservedState['newestRelease']> {
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
function poolNodesOf(
  pool: WindowsPool,
  view: ObservedNodeGroup,
  expected: Expectation,
  { poolNodesCache }: Sources,
): PoolNodes {
  const group = view.kind === 'seen' ? view.group : view.kind === 'unreachable' ? view.last : undefined;
  // Without a group to look at, only the memory of one proves that the nodes are the pool's.
  const isOurs = group ? isOwnedBy(pool, group) : view.kind === 'absent' || pool.status?.nodeGroup?.arn !== undefined;
  if (!isOurs) return new PoolNodes([], expected, 0);
  return poolNodesCache.of(pool.metadata.name, nodeGroupNameOf(pool), expected);
}

async function lookAtGroup(
  pool: WindowsPool,
  awsCache: AwsCache,
  { nodeGroups }: Sources,
  now: number,
  signal: AbortSignal,
): Promise<ObservedNodeGroup> {
  const answer = await nodeGroups.describe(nodeGroupNameOf(pool), signal);
  if (answer.ok) return answer.value ? { kind: 'seen', group: answer.value } : { kind: 'absent' };
  const before = awsCache.last(pool.metadata.name);
  const since = before?.kind === 'unreachable' ? before.since : now;
  const last = before?.kind === 'seen' ? before.group : before?.kind === 'unreachable' ? before.last : undefined;
  return { kind: 'unreachable', error: answer.error, since, last };
}

/**
 * How old what is known of the cluster may be: it is looked at again before a group is made, when EKS says that it is gone, while a pool
 * waits for its upgrade, and else once for all pools that look at about the same time: somebody may upgrade it, or switch Auto Mode on.
 */
function clusterAge({ cluster }: AwsCache, pool: WindowsPool, group: ObservedNodeGroup, settings: Settings): number {
  const { pollMs, resyncMs } = settings;
  const gone = group.kind === 'unreachable' && group.error.kind === 'gone';
  if (gone || cluster?.kind !== 'seen') return 0;
  // An AWS that does not answer is not asked for more.
  if (group.kind === 'unreachable') return Number.POSITIVE_INFINITY;
  if (isAheadOfCluster({ pool, cluster })) return pollMs / 2;
  return (group.kind === 'absent' && !isDeleting(pool) ? pollMs : resyncMs) / 2;
}

/** With the cluster as it is now, because it may be what changed, and with the instances that take addresses before they are nodes. */
async function withAllThatMayBeWrong(s: ObservedState, awsCache: AwsCache, sources: Sources, signal: AbortSignal) {
  const isAsked = s.errors.some(({ step }) => step === 'describeInstances');
  const known = missesNodes(s) && !isAsked ? await withInstances(s, sources, signal) : s;
  return { ...known, cluster: await lookAtCluster(awsCache, awsCache.completeAge(s), sources, s.now, signal) };
}

/** The cluster. Pools that look at the same time share one call. */
export async function lookAtCluster(
  awsCache: AwsCache,
  maxAgeMs: number,
  { clusters }: Pick<Sources, 'clusters'>,
  now: number,
  signal: AbortSignal,
): Promise<ObservedCluster> {
  const answer = await awsCache.shared.get('cluster', maxAgeMs, now, (own) => clusters.describe(own), signal);
  if (!answer.ok) awsCache.cluster = { kind: 'unreachable', error: answer.error };
  else awsCache.cluster = answer.value ? { kind: 'seen', cluster: answer.value } : { kind: 'absent' };
  return awsCache.cluster;
}

/** With the operator's own update, while its end is not known and EKS no longer works on the group. */
async function withUpdate(s: ObservedState, { nodeGroups }: Sources, signal: AbortSignal): Promise<ObservedState> {
  const memory = s.pool.status?.nodeGroup?.update;
  if (s.group.kind !== 'seen' || s.group.group.status === 'UPDATING' || memory?.status !== 'InProgress') return s;
  const answer = await nodeGroups.describeUpdate(s.group.group.name, memory.id, signal);
  if (!answer.ok) return withError(s, 'describeUpdate', answer.error);
  const { id, type } = memory;
  // An update that EKS no longer knows is over; what still differs is sent again.
  return { ...s, update: answer.value ?? { id, type, status: 'Cancelled', createdAt: 0, errors: [] } };
}

/** With the group's instances. */
async function withInstances(s: ObservedState, { instances }: Sources, signal: AbortSignal): Promise<ObservedState> {
  const [scalingGroup] = groupOf(s)?.autoScalingGroups ?? [];
  if (!scalingGroup) return s;
  const answer = await instances.ofScalingGroup(scalingGroup, signal);
  return answer.ok ? { ...s, instances: answer.value } : withError(s, 'describeInstances', answer.error);
}

/** Whether nodes are missing for so long that EC2 has to be asked which instances did not join. */
export function needsInstances(s: ObservedState): boolean {
  // The nodes of a pool that goes are meant to be missing, and nobody would ask: each event would be a look in vain.
  return !isDeleting(s.pool) && missesNodes(s) && isOverdue(s);
}

/** Whether the group has instances that nobody looked up and that may not be nodes. */
function missesNodes({ group: view, poolNodes, instances }: ObservedState): boolean {
  const group = groupOf({ group: view });
  if (!group || group.autoScalingGroups.length === 0 || instances) return false;
  return poolNodes.total + poolNodes.unlabelledNodes.length < group.scaling.desired;
}

/** With what the cluster-autoscaler knows of the group. */
async function withAutoscaler(s: ObservedState, { shared }: AwsCache, sources: Sources, signal: AbortSignal) {
  const facts = await gatherAutoscalerFacts(s, sources, shared, signal);
  if (!facts) return s;
  return facts.ok ? { ...s, autoscaler: facts.value } : withError(s, 'describeScalingGroups', facts.error);
}

/** With what became of nodes that left. Asked only while the pool misses nodes: else they went as they should. */
async function withLostNodes(
  s: ObservedState,
  departures: LostNodes,
  fresh: boolean,
  { nodes }: Sources,
  signal: AbortSignal,
): Promise<ObservedState> {
  const group = groupOf(s);
  if (!group || !isOwnedBy(s.pool, group)) return s;
  if (isDeleting(s.pool) || s.poolNodes.total >= group.scaling.desired) {
    departures.forget();
    return s;
  }
  if (fresh) {
    departures.recheckUnlabelled();
    for (const instance of lateInstances(s) ?? []) departures.missed(instance);
  }
  const isOut = ({ labels }: NodeRecord) => labels[NODE_GROUP_LABEL] !== group.name || labels[OS_LABEL] !== WINDOWS;
  const error = await departures.read(isOut, nodes, s.now, signal);
  return error ? withError(s, 'readNode', error) : s;
}
