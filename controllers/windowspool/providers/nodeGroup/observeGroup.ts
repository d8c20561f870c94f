/**
 * Reads the observed state of a pool with a node group. The cluster's own objects come from the cache; AWS is called only when there is a
 * reason to.
 */

import type { WindowsPool } from '../../api/api.gen.ts';
import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../../api/labels.ts';
import { withCount, withOperations } from '../../disruption/observeLeavingNodes.ts';
import type { Expectation, GroupMembers } from '../../model/poolNodesView.ts';
import type { LostNodes } from '../../nodes/lostNodes.ts';
import { PoolNodes } from '../../nodes/poolNodes.ts';
import { yearOf } from '../../nodes/windows.ts';
import { baseState } from '../../observation/baseState.ts';
import type { ReadCache } from '../../observation/readCache.ts';
import type { Sources } from '../../observation/sources.ts';
import type { Instance, ScalingGroup } from '../../ports/ec2.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { nodeGroupIn } from '../../rules/nodeSource.ts';
import { isDeleting, withError } from '../../rules/poolQueries.ts';
import type { ObserveContext } from '../provider.ts';
import { gatherFacts } from './checks/gatherFacts.ts';
import { knownPrerequisites, scopeToRead } from './derive/deriveGroup.ts';
import { gatherAutoscalerFacts, SCALING_GROUPS_QUESTION } from './desired/autoscalerFacts.ts';
import {
  acceptsUpdates,
  isOwnedBy,
  nodeGroupNameOf,
  nodeGroupNamesOf,
  secondNameOf,
} from './desired/desiredNodeGroup.ts';
import { readTerminatingNode } from './drainGroupNodes.ts';
import { capacityOf } from './groupCapacity.ts';
import { foundTexts } from './launchTemplate/desiredLaunchSettings.ts';
import { isCustom } from './launchTemplate/launchSettings.ts';
import { ownTemplateNameOf } from './launchTemplate/ownTemplate.ts';
import { mayHaveTemplate } from './launchTemplate/ownTemplateRules.ts';
import type { Scope } from './model/checkFacts.ts';
import type { EksState, ObservedCluster, ObservedNodeGroup } from './model/groupState.ts';
import { knownMain, knownSecond, observedGroup } from './observation/confirmation.ts';
import {
  desiredNodes,
  expectationOfGroups,
  groupOf,
  isClusterMismatch,
  isOverdue,
  isUnknown,
  isUnread,
  lateInstances,
  ownedGroup,
  ownGroups,
} from './observation/knownGroups.ts';
import { AwsMemory, type AwsSnapshot, completeAge, lastSnapshot } from './observation/nodeGroupSnapshot.ts';
import { isStatusLost, secondIn } from './secondGroup/secondGroup.ts';
import { withStuckPods } from './versions/evictions.ts';
import { isAheadOfCluster } from './versions/versionChanges.ts';
import { waitsForWindowsIpam } from './windowsIpam/windowsIpamRules.ts';

/** New releases are rare: they are read again at one of this many reads. */
const RARELY = 6;

/** Reads the observed state of a pool. With `before`, AWS is not called, and its earlier answers are used. */
export async function observeNodeGroup(
  pool: WindowsPool,
  before: AwsSnapshot | undefined,
  context: ObserveContext,
): Promise<EksState> {
  const { readCache, sources, settings, now, signal } = context;
  const passed = readCache.operations.get(pool.metadata.name);
  const group = before?.group ?? (await readGroup(pool, context));
  const second = before ? before.second : await readSecond(pool, context);
  const cluster =
    (before && readCache.of(AwsMemory).cluster) ?? (await readCluster(clusterAge(pool, group, context), context));
  const known = { pool, group, ...(second && { second }) };
  const { base, expected } = baseState(pool, expectationOfGroups(known), context);
  const poolNodes = poolNodesOf(known, expected, sources);
  await confirmMembers(known, poolNodes, before !== undefined, context);
  const observed: EksState = {
    ...base,
    ...known,
    cluster,
    poolNodes,
    update: before?.update?.id === pool.status?.nodeGroup?.update?.id ? before?.update : undefined,
    prerequisites: before?.prerequisites,
    instances: before?.instances,
    newestRelease: before?.newestRelease,
    autoscaler: before?.autoscaler,
    ownTemplate: before?.ownTemplate,
    ipamAttempts: readCache.of(AwsMemory).windowsIpam.attempts,
    errors: before?.errors ?? readCache.refusedTerminations(pool, now - 2 * settings.resyncMs),
  };
  const asked = before
    ? observed
    : isDeleting(pool)
      ? await withOwnTemplate(observed, context)
      : await askAws(observed, context);
  const complete = before === undefined;
  const found = await withLostNodes(asked, poolNodes.lostNodes, complete, context);
  const drained = await withOperations(
    found,
    passed,
    complete,
    () => (entry) => readTerminatingNode(entry, found, sources, signal),
  );
  return complete ? withCount(drained, capacityOf(drained), sources, signal) : drained;
}

/** Adds everything else that is read from AWS. */
async function askAws(s: EksState, context: ObserveContext): Promise<EksState> {
  const { readCache, sources, signal } = context;
  const updated = await withStuckPods(await withUpdate(s, context), sources, signal);
  const known = needsInstances(updated) ? await withInstances(updated, context) : updated;
  const seen = scopeToRead(known) === 'complete' ? await withPossibleCauses(known, context) : known;
  const [prerequisites, newestRelease] = await Promise.all([
    gatherFacts(seen, sources, readCache, signal),
    findNewestRelease(seen, context),
  ]);
  const read = await withOwnTemplate({ ...seen, prerequisites, newestRelease }, context);
  // What the launch template should contain follows from these facts: only now is it known whether a canary of it is due.
  const facts = needsFacts(read, scopeToRead(read))
    ? await gatherFacts(read, sources, readCache, signal)
    : prerequisites;
  return withAutoscaler(withIpamError({ ...read, prerequisites: facts }, readCache), context);
}

/** Whether more facts must be read than were. */
export function needsFacts({ prerequisites }: EksState, scope: Scope): boolean {
  return !prerequisites?.complete && scope === 'complete';
}

/** Adds the launch template of the pool, and the settings of the group's version of it. */
async function withOwnTemplate(s: EksState, { sources, signal }: ObserveContext): Promise<EksState> {
  if (!needsOwnTemplate(s)) return s;
  const name = ownTemplateNameOf(s.pool, s.settings.clusterName);
  const answer = await sources.ownTemplates.find(name, signal);
  if (!answer.ok) return withError(s, 'describeLaunchTemplate', answer.error);
  if (!answer.value) return { ...s, ownTemplate: { kind: 'absent' } };
  const template = answer.value;
  const known: EksState = { ...s, ownTemplate: { kind: 'seen', template } };
  if (s.group.kind !== 'seen' || s.group.group.launchTemplate?.id !== template.id) return known;
  const { group } = s.group;
  const used = template.versions.find(({ version }) => version === group.launchTemplate?.version);
  return used
    ? { ...known, group: { ...s.group, group: { ...group, launchSettings: foundTexts(used, known) } } }
    : known;
}

/** Whether the pool may have a launch template, and what happens next depends on it. While a group is deleted with its pool, nothing does. */
function needsOwnTemplate(s: EksState): boolean {
  const { pool, group, cluster } = s;
  if (!mayHaveTemplate(s) || isClusterMismatch(s)) return false;
  // The template outlives a cluster, and the group that was deleted with it.
  if (isUnknown(group)) return isDeleting(pool) && cluster.kind === 'absent';
  const isOwned = ownedGroup(pool, group) !== undefined;
  return isDeleting(pool) ? !isOwned : isOwned || group.kind === 'absent';
}

/** Adds the error of the last attempt of any pool to enable Windows IPAM, when this pool waits for that setting. */
function withIpamError(s: EksState, readCache: ReadCache): EksState {
  const { windowsIpam } = readCache.of(AwsMemory);
  if (!waitsForWindowsIpam(s, knownPrerequisites(s))) return s;
  return { ...s, errors: [...s.errors, ...windowsIpam.errorSince(s.now - s.settings.deniedRetryMs)] };
}

/** Finds the newest AMI release for the pool's group. Releases are monthly, and pools with the same version and edition share the answer. */
async function findNewestRelease(
  { pool, cluster, group, settings, now }: EksState,
  { sources: { releases }, readCache: { shared }, signal }: ObserveContext,
): Promise<EksState['newestRelease']> {
  const owned = ownedGroup(pool, group);
  if (cluster.kind !== 'seen' || !owned || !acceptsUpdates(owned) || isCustom(pool.spec)) return undefined;
  const { windowsVersion } = pool.spec;
  const nodeGroup = nodeGroupIn(pool.spec);
  const minor = nodeGroup.kubernetesVersion ?? cluster.cluster.kubernetesVersion;
  const ask = (own: AbortSignal) =>
    releases.newest({ year: yearOf(windowsVersion), edition: nodeGroup.edition }, minor, own);
  const question = `newest release of ${windowsVersion} ${nodeGroup.edition} ${minor}`;
  return shared.get(question, RARELY * settings.resyncMs, now, ask, signal);
}

/** The verification results of the nodes of the pool's groups. The nodes of a group that the pool does not own are not the pool's either. */
function poolNodesOf(
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
async function confirmMembers(
  known: Pick<EksState, 'pool' | 'group' | 'second'>,
  poolNodes: PoolNodes,
  isCached: boolean,
  { readCache, sources: { scalingGroups }, settings, now, signal }: ObserveContext,
): Promise<void> {
  const { pool, group, second } = known;
  const isListed = [group, second].some((view) => (ownedGroup(pool, view)?.autoScalingGroups.length ?? 0) > 0);
  if (!isListed || (isCached && poolNodes.isConfirmed)) return;
  const groups = ownGroups(known);
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
  poolNodes.markAsked();
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

async function readGroup(pool: WindowsPool, context: ObserveContext): Promise<ObservedNodeGroup> {
  const { readCache, sources, signal } = context;
  const answer = await sources.nodeGroups.describe(nodeGroupNameOf(pool), signal);
  const before = lastSnapshot(readCache, pool.metadata.name)?.group;
  return observedGroup(pool, knownMain(pool), answer, before, context);
}

/**
 * Reads the second group: the old group of a replacement, or the canary. A pool without a record of any group may have lost its status: with the finalizer, the
 * operator has worked on it, whatever its spec was then.
 */
async function readSecond(pool: WindowsPool, context: ObserveContext): Promise<ObservedNodeGroup | undefined> {
  const { readCache, sources, signal } = context;
  const record = secondIn(pool);
  const { immutableChangePolicy, update } = nodeGroupIn(pool.spec);
  const mayHaveOther = isStatusLost(pool) || immutableChangePolicy === 'Replace' || update.canary !== undefined;
  if (!record && !(pool.status?.nodeGroup === undefined && mayHaveOther)) return undefined;
  const answer = await sources.nodeGroups.describe(secondNameOf(pool), signal);
  const before = lastSnapshot(readCache, pool.metadata.name)?.second;
  const view = observedGroup(pool, knownSecond(pool), answer, before, context);
  const isFound = isUnknown(view) || ownedGroup(pool, view) !== undefined;
  return record || isFound ? view : undefined;
}

/**
 * The maximum age of the cached cluster, in milliseconds. The cluster is read again before a group is created, when EKS reports it as gone,
 * and while a pool waits for its upgrade. Otherwise one read per resync serves all pools: a user may upgrade the cluster or enable Auto
 * Mode.
 */
function clusterAge(pool: WindowsPool, group: ObservedNodeGroup, { readCache, settings }: ObserveContext): number {
  const { cluster } = readCache.of(AwsMemory);
  const { pollMs, resyncMs } = settings;
  const gone = group.kind === 'unreachable' && group.error.kind === 'gone';
  if (gone || cluster?.kind !== 'seen') return 0;
  // While AWS is unreachable, or contradicts what was known, nothing more is read from it.
  if (isUnknown(group)) return Number.POSITIVE_INFINITY;
  if (isAheadOfCluster({ pool, cluster })) return pollMs / 2;
  return (group.kind === 'absent' && !isDeleting(pool) ? pollMs : resyncMs) / 2;
}

/** Reads possible causes of a failure: the cluster as it is now, and the instances that take addresses before they are nodes. */
async function withPossibleCauses(s: EksState, context: ObserveContext) {
  const isAsked = s.errors.some(({ step }) => step === 'describeInstances');
  const known = missesNodes(s) && !isAsked ? await withInstances(s, context) : s;
  return { ...known, cluster: await readCluster(completeAge(context.readCache, s), context) };
}

/** Reads the cluster unless the cached answer is younger than `maxAgeMs`. Pools that read at the same time share one call. */
export async function readCluster(
  maxAgeMs: number,
  { readCache, sources, now, signal }: Omit<ObserveContext, 'settings'>,
): Promise<ObservedCluster> {
  const ask = (own: AbortSignal) => sources.clusters.describe(own);
  const answer = await readCache.shared.get('cluster', maxAgeMs, now, ask, signal);
  const cluster: ObservedCluster = !answer.ok
    ? { kind: 'unreachable', error: answer.error }
    : answer.value
      ? { kind: 'seen', cluster: answer.value }
      : { kind: 'absent' };
  readCache.of(AwsMemory).cluster = cluster;
  return cluster;
}

/** Adds the operator's own update while its result is unknown and EKS no longer works on the group. */
async function withUpdate(s: EksState, { sources, signal }: ObserveContext): Promise<EksState> {
  const memory = s.pool.status?.nodeGroup?.update;
  if (s.group.kind !== 'seen' || s.group.group.status === 'UPDATING' || memory?.status !== 'InProgress') return s;
  const answer = await sources.nodeGroups.describeUpdate(s.group.group.name, memory.id, signal);
  if (!answer.ok) return withError(s, 'describeUpdate', answer.error);
  const { id, type } = memory;
  // An update that EKS no longer knows is over; remaining differences are sent again.
  return { ...s, update: answer.value ?? { id, type, status: 'Cancelled', createdAt: 0, errors: [] } };
}

/** Adds the instances of the pool's groups. */
async function withInstances(s: EksState, { readCache, sources, signal }: ObserveContext): Promise<EksState> {
  const { serviceTimes } = readCache.of(AwsMemory);
  const scalingGroups = ownGroups(s).flatMap(({ warmPool, autoScalingGroups: [name] }) =>
    name === undefined ? [] : [{ name, warmPool }],
  );
  if (scalingGroups.length === 0) return s;
  const instances: Instance[] = [];
  for (const { name, warmPool } of scalingGroups) {
    const answer = await sources.instances.ofScalingGroup(name, signal);
    if (!answer.ok) return withError(s, 'describeInstances', answer.error);
    instances.push(...(warmPool ? serviceTimes.applyTo(s.pool.metadata.name, answer.value, s.now) : answer.value));
  }
  return { ...s, instances };
}

/** Whether nodes have been missing for so long that EC2 must be asked which instances did not join. */
export function needsInstances(s: EksState): boolean {
  // While a pool is deleted, its nodes are expected to be missing: each node event would cost a useless read.
  return !isDeleting(s.pool) && missesNodes(s) && isOverdue(s);
}

/** Whether the groups have instances that were not read and may not be nodes. */
function missesNodes(s: EksState): boolean {
  const { poolNodes, instances } = s;
  if (instances || !ownGroups(s).some(({ autoScalingGroups }) => autoScalingGroups.length > 0)) return false;
  return poolNodes.total + poolNodes.unlabelledNodes.length < (desiredNodes(s) ?? 0);
}

/** Adds what the cluster-autoscaler knows of the group. */
async function withAutoscaler(s: EksState, { readCache, sources, signal }: ObserveContext) {
  const facts = await gatherAutoscalerFacts(s, sources, readCache.shared, signal);
  if (!facts) return s;
  return facts.ok ? { ...s, autoscaler: facts.value } : withError(s, 'describeScalingGroups', facts.error);
}

/** Adds the state of nodes that left the watch. They are read only while the pool lacks nodes: otherwise they were terminated as intended. */
async function withLostNodes(
  s: EksState,
  lostNodes: LostNodes,
  fresh: boolean,
  { sources, signal }: ObserveContext,
): Promise<EksState> {
  const desired = desiredNodes(s);
  if (desired === undefined) return s;
  if (isDeleting(s.pool) || s.poolNodes.total >= desired) {
    lostNodes.forget();
    return s;
  }
  if (fresh) {
    lostNodes.recheckUnlabelled();
    for (const instance of lateInstances(s) ?? []) lostNodes.missed(instance);
  }
  const names = nodeGroupNamesOf(s.pool);
  const isOut = ({ labels }: NodeRecord) =>
    !names.includes(labels[NODE_GROUP_LABEL] ?? '') || labels[OS_LABEL] !== WINDOWS;
  const error = await lostNodes.read(isOut, sources.nodes, s.now, signal);
  return error ? withError(s, 'readNode', error) : s;
}
