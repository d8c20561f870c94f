/** Questions that rules and conditions ask about a pool and its observed state. Pure. */
import type { WindowsPool } from './api.gen.ts';
import { PAUSED_ANNOTATION, RETRY_ANNOTATION } from './labels.ts';
import type { ObservedNodeGroup, ObservedState } from './model/observedState.ts';
import type { Expectation, TaintPolicy } from './model/poolNodes.ts';
import type { Read, StepError } from './model/stepError.ts';
import type { Step } from './model/steps.ts';
import { nodeSourceOf } from './nodeSource.ts';
import { GATE_TAINTS, isGateTaint } from './nodes/nodeTaints.ts';
import { isRegistrationTaint, SETTLING_MS } from './nodes/verify.ts';
import type { CallError } from './ports/callResult.ts';
import type { Instance } from './ports/ec2.ts';
import type { NodeGroup } from './ports/eks.ts';
import { taintField } from './providers/eks/applied.ts';
import { appliedOf } from './providers/eks/appliedRecord.ts';
import { isOwnedBy } from './providers/eks/nodeGroup.ts';
import { marksOf } from './providers/existing/ownershipRecord.ts';
import type { Reason } from './reasons.ts';

/** Whether the pool has a deletion timestamp. */
export function isDeleting(pool: WindowsPool): boolean {
  return pool.metadata.deletionTimestamp !== undefined;
}

/** Whether spec.paused or the annotation pauses the pool. */
export function isPaused(pool: WindowsPool): boolean {
  return pool.spec.paused || (pool.metadata.annotations?.[PAUSED_ANNOTATION] ?? 'false') !== 'false';
}

/** The group as far as it is known: as observed now, or as observed last. */
export function groupOf({ group }: Pick<ObservedState, 'group'>): NodeGroup | undefined {
  if (group.kind === 'seen') return group.group;
  return group.kind === 'unreachable' ? group.last : undefined;
}

/** The group as observed now, if the pool owns it. */
export function ownedGroup(pool: WindowsPool, view: ObservedNodeGroup | undefined): NodeGroup | undefined {
  return view?.kind === 'seen' && isOwnedBy(pool, view.group) ? view.group : undefined;
}

/** Why AWS could not be read, as conditions report it. */
export function unreadReason({ kind }: Pick<CallError, 'kind'>): Reason {
  return kind === 'denied' ? 'AccessDenied' : 'AWSUnavailable';
}

/** The groups that the pool owns, as far as they are known: the desired one, and the one that it replaces. */
export function ownGroups({ pool, group, former }: Pick<ObservedState, 'pool' | 'group' | 'former'>): NodeGroup[] {
  const known = [group, ...(former ? [former] : [])].map((view) => groupOf({ group: view }));
  return known.filter((each) => each !== undefined).filter((each) => isOwnedBy(pool, each));
}

/** The desired number of nodes in all groups that the pool owns; undefined when none is known. */
export function desiredNodes(s: Pick<ObservedState, 'pool' | 'group' | 'former'>): number | undefined {
  const groups = ownGroups(s);
  return groups.length > 0 ? groups.reduce((sum, { scaling }) => sum + scaling.desiredSize, 0) : undefined;
}

/** Whether the EKS cluster is not the one that the operator runs in, or not the one in which the pool's group was created. */
export function isClusterMismatch({ pool, cluster, settings }: ObservedState): boolean {
  const pinned = pool.status?.cluster?.arn;
  if (pinned !== undefined) {
    // arn:aws:eks:REGION:ACCOUNT:cluster/NAME, so that a wrong flag is detected even when EKS cannot be called.
    const [, , , region, , path] = pinned.split(':');
    if (region !== settings.region || path !== `cluster/${settings.clusterName}`) return true;
  }
  if (cluster.kind !== 'seen') return false;
  return !cluster.cluster.isOurs || (pinned !== undefined && pinned !== cluster.cluster.arn);
}

/** The number of verified nodes that the pool needs to be Ready. */
export function neededNodes(pool: WindowsPool): number {
  return Math.max(1, pool.spec.nodeGroup?.scaling.minSize ?? 1);
}

/** Whether the same call would keep failing until people change something. */
export function isLasting({ kind }: CallError): boolean {
  return ['denied', 'refused', 'limit', 'gone', 'unknown'].includes(kind);
}

/** The error of a step that EKS would answer with again, whatever the operator's permissions are; undefined if there is none. */
export function rejectionOf({ errors }: Pick<ObservedState, 'errors'>, step: Step['kind']): StepError | undefined {
  return errors.find((entry) => entry.step === step && ['refused', 'limit', 'unknown'].includes(entry.error.kind));
}

/** Whether nodes have been missing for longer than the join grace, as status records. */
export function isOverdue({ pool, now, settings }: ObservedState): boolean {
  const { nodesMissing = false, joiningSince } = pool.status?.bookkeeping ?? {};
  return nodesMissing || (joiningSince !== undefined && now - Date.parse(joiningSince) >= settings.joinGraceMs);
}

/** Instances older than the join grace that are not nodes of the pool; undefined when EC2 was not called. */
export function lateInstances({ instances, poolNodes, now, settings }: ObservedState): Instance[] | undefined {
  return instances?.filter(
    ({ id, launchedAt }) => !poolNodes.hasInstance(id) && now - launchedAt >= settings.joinGraceMs,
  );
}

/** Whether nodes have been missing for too long. A scaling group that has just launched its instances is still growing and lacks none. */
export function lacksNodes(s: ObservedState): boolean {
  const desired = desiredNodes(s) ?? 0;
  const growing = lateInstances(s)?.length === 0 && (s.instances?.length ?? 0) >= desired;
  return s.poolNodes.total + s.poolNodes.unlabelledNodes.length < desired && isOverdue(s) && !growing;
}

/** What the pool's nodes are verified against. */
export function expectationOf(
  s: Pick<ObservedState, 'pool' | 'group' | 'former' | 'serverVersion' | 'settings'>,
): Expectation {
  const { pool, serverVersion, settings } = s;
  const reportedBy = isDeleting(pool) ? undefined : pool.metadata.name;
  const owner = nodeSourceOf(pool).marksNodes ? reportedBy : undefined;
  const retry = pool.metadata.annotations?.[RETRY_ANNOTATION];
  const known = [groupOf(s), ...ownGroups(s)];
  const mayComeLate = known.some((group) => group?.taints.some(isRegistrationTaint));
  return {
    spec: pool.spec,
    serverVersion,
    joinGraceMs: settings.joinGraceMs,
    taints: taintPolicyOf(s),
    reportedBy,
    ...(retry && { retry }),
    ...(owner !== undefined && { owner, marks: [...marksOf(pool)].sort() }),
    ...(mayComeLate && { settlingMs: SETTLING_MS }),
  };
}

/** The taints that the pool's nodes should have. When the gate is removed, the group loses its taint first, then the nodes. */
function taintPolicyOf({ pool, group, former }: Pick<ObservedState, 'pool' | 'group' | 'former'>): TaintPolicy {
  const { policy } = pool.spec.verification;
  const deleting = isDeleting(pool);
  const hasFormerTaint = former !== undefined && groupOf({ group: former })?.taints.some(isGateTaint) === true;
  const hasGroupTaint =
    (groupOf({ group })?.taints.some(isGateTaint) ??
      GATE_TAINTS.some((taint) => appliedOf(pool)?.has(taintField(taint)))) ||
    hasFormerTaint;
  return { gate: hasGroupTaint || (policy === 'Gate' && !deleting), quarantine: policy !== 'Report' && !deleting };
}

/** The observed state with an error of a read added. */
export function withError(s: ObservedState, step: Read, error: CallError): ObservedState {
  return { ...s, errors: [...s.errors, { at: s.now, step, error }] };
}
