/**
 * Reads the observed state of a pool with a node group. The cluster's own objects come from the cache; AWS is called only when there is a
 * reason to.
 */

import type { WindowsPool } from '../../api/api.gen.ts';
import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../../api/labels.ts';
import { withCount, withOperations } from '../../disruption/observeLeavingNodes.ts';
import type { StepError } from '../../model/stepError.ts';
import type { PoolNodes } from '../../nodes/poolNodes.ts';
import { yearOf } from '../../nodes/windowsVersions.ts';
import { baseState } from '../../observation/baseState.ts';
import type { ReadCache } from '../../observation/readCache.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { Instance } from '../../ports/ec2.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { nodeGroupIn } from '../../rules/nodeSource.ts';
import { isDeleting, withError } from '../../rules/poolQueries.ts';
import type { ObserveContext } from '../provider.ts';
import { readControllerWarnings } from './checks/controllerWarnings.ts';
import { gatherFacts } from './checks/gatherFacts.ts';
import { knownPrerequisites, scopeToRead } from './derive/deriveGroup.ts';
import { acceptsUpdates, nodeGroupNamesOf } from './desired/desiredNodeGroup.ts';
import { readTerminatingNode } from './drainGroupNodes.ts';
import { capacityOf } from './groupCapacity.ts';
import { foundTexts } from './launchTemplate/desiredLaunchSettings.ts';
import { isCustom } from './launchTemplate/launchSettings.ts';
import { ownTemplateNameOf } from './launchTemplate/ownTemplate.ts';
import { mayHaveTemplate } from './launchTemplate/ownTemplateRules.ts';
import type { Scope } from './model/checkFacts.ts';
import type { EksState } from './model/groupState.ts';
import { gatherAutoscalerFacts, SCALING_GROUPS_QUESTION } from './observation/autoscalerFacts.ts';
import { confirmAfterMs } from './observation/confirmation.ts';
import { confirmMembers, poolNodesOf } from './observation/groupMembers.ts';
import {
  desiredNodes,
  expectationOfGroups,
  groupOf,
  isClusterMismatch,
  isOverdue,
  isUnknown,
  lateInstances,
  ownedGroup,
  ownGroups,
} from './observation/knownGroups.ts';
import { AwsMemory, type AwsSnapshot, completeAge, lastSnapshot } from './observation/nodeGroupSnapshot.ts';
import { clusterAge, readCluster, readGroup, readSecond } from './observation/readGroups.ts';
import { withStuckPods } from './observation/stuckPods.ts';
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
  const second = before ? before.second : await readSecond(pool, group, context);
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
  const found = await withUnwatchedNodes(asked, poolNodes, complete, context);
  await readControllerWarnings(found, poolNodes, complete, sources.system, signal);
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

/** Reads possible causes of a failure: the cluster as it is now, and the instances that take addresses before they are nodes. */
async function withPossibleCauses(s: EksState, context: ObserveContext) {
  const isAsked = s.errors.some(({ step }) => step === 'describeInstances');
  const known = missesNodes(s) && !isAsked ? await withInstances(s, context) : s;
  return { ...known, cluster: await readCluster(completeAge(context.readCache, s), context) };
}

/** Adds the operator's own update while its result is unknown and EKS no longer works on the group. */
async function withUpdate(s: EksState, { sources, readCache, signal }: ObserveContext): Promise<EksState> {
  const recorded = s.pool.status?.nodeGroup?.update;
  if (s.group.kind !== 'seen' || s.group.group.status === 'UPDATING' || recorded?.status !== 'InProgress') return s;
  const answer = await sources.nodeGroups.describeUpdate(s.group.group.name, recorded.id, signal);
  if (!answer.ok) return withError(s, 'describeUpdate', answer.error);
  if (answer.value) return { ...s, update: answer.value };
  const { id, type } = recorded;
  const unknown = unknownUpdate(s, id, lastSnapshot(readCache, s.pool.metadata.name)?.errors);
  if (s.now - unknown.at < confirmAfterMs(s.settings)) return { ...s, errors: [...s.errors, unknown] };
  // An update that EKS no longer knows is over; remaining differences are sent again.
  return { ...s, update: { id, type, status: 'Cancelled', createdAt: 0, errors: [] } };
}

/** That EKS does not know the update, since the first of the reads in a row that said so: one may lag behind the call that started it. */
function unknownUpdate({ now }: EksState, id: string, before: readonly StepError[] = []): StepError {
  const message = `EKS does not know update ${id}`;
  const error: CallError = { kind: 'unavailable', operation: 'DescribeUpdate', code: 'UpdateNotFound', message };
  return before.find(({ error: known }) => known.message === message) ?? { at: now, step: 'describeUpdate', error };
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
async function withUnwatchedNodes(
  s: EksState,
  poolNodes: PoolNodes,
  fresh: boolean,
  context: ObserveContext,
): Promise<EksState> {
  const { sources, signal } = context;
  const { unwatchedNodes } = poolNodes;
  const desired = desiredNodes(s);
  if (desired === undefined) return s;
  if (isDeleting(s.pool) || s.poolNodes.total >= desired) {
    unwatchedNodes.forget();
    return s;
  }
  if (fresh) {
    unwatchedNodes.recheckUnlabelled();
    for (const instance of lateInstances(s) ?? []) unwatchedNodes.missed(instance);
  }
  const names = nodeGroupNamesOf(s.pool);
  const isOut = ({ labels }: NodeRecord) =>
    !names.includes(labels[NODE_GROUP_LABEL] ?? '') || labels[OS_LABEL] !== WINDOWS;
  const error =
    (await unwatchedNodes.read(isOut, sources.nodes, s.now, signal)) ??
    (await findOutside(s, poolNodes, desired, context));
  return error ? withError(s, 'readNode', error) : s;
}

/**
 * Finds instances that joined as nodes of another operating system, of which no event tells. After the join grace, their instances show them. Their labels prove
 * nothing: they count if they are on instances of the groups.
 */
async function findOutside(s: EksState, poolNodes: PoolNodes, desired: number, context: ObserveContext) {
  const { unwatchedNodes } = poolNodes;
  // A group that EKS creates becomes ACTIVE when its nodes have joined.
  const isWaiting = groupOf(s)?.status !== 'CREATING';
  if (!isWaiting || s.poolNodes.total + unwatchedNodes.unlabelledNodes.length >= desired) {
    unwatchedNodes.stopFinding();
    return undefined;
  }
  const { settings, sources, readCache, signal } = context;
  const list = async () => {
    const answer = await sources.nodes.outside(s.pool.metadata.name, signal);
    if (!answer.ok) return answer;
    const names = nodeGroupNamesOf(s.pool);
    const found = answer.value.filter(({ labels }) => names.includes(labels[NODE_GROUP_LABEL] ?? ''));
    if (found.some((node) => !poolNodes.isMember(node))) {
      readCache.shared.forget(SCALING_GROUPS_QUESTION);
      await confirmMembers(s, poolNodes, false, context);
    }
    return { ok: true as const, value: found.filter((node) => poolNodes.isMember(node)) };
  };
  return unwatchedNodes.find(list, s.now, isOverdue(s) ? settings.resyncMs : settings.pollMs);
}
