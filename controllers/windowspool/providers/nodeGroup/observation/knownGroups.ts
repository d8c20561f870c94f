/** The node groups of a pool as observed, and what follows from them about its nodes. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import type { GroupExpectation } from '../../../model/poolNodesView.ts';
import type { StepError } from '../../../model/stepError.ts';
import type { Step } from '../../../model/steps.ts';
import { GATE_TAINTS, isGateTaint } from '../../../nodes/nodeTaints.ts';
import { isRegistrationTaint, SETTLING_MS } from '../../../nodes/verify.ts';
import type { Instance } from '../../../ports/ec2.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { taintField } from '../changes/appliedFields.ts';
import { appliedOf } from '../changes/appliedRecord.ts';
import { isOwnedBy } from '../desired/desiredNodeGroup.ts';
import type { EksState, ObservedNodeGroup } from '../model/groupState.ts';

/** The group as far as it is known: as observed now, or as observed last. */
export function groupOf({ group }: Pick<EksState, 'group'>): NodeGroup | undefined {
  if (group.kind === 'seen') return group.group;
  return isUnknown(group) ? group.last : undefined;
}

/** The AMI release of the group, or the ID of its custom AMI: the last known one if EKS answers without it. */
export function lastReleaseOf({ status }: WindowsPool, { arn, releaseVersion }: NodeGroup): string | undefined {
  const recorded = status?.nodeGroup;
  return releaseVersion || (recorded?.arn === arn ? recorded.releaseVersion : undefined);
}

/** A node group that may not be as it was observed last. */
export type UnknownGroup = Extract<ObservedNodeGroup, { readonly last: unknown }>;

/** Whether it is not known what the group is now: it could not be read, or an answer contradicts what was known. */
export function isUnknown(view: ObservedNodeGroup): view is UnknownGroup {
  return view.kind === 'unreachable' || view.kind === 'unconfirmed';
}

/** Whether nothing is known of the group, as after a restart whose first read failed, or contradicts status. */
export function isUnread(view: ObservedNodeGroup | undefined): boolean {
  return view !== undefined && isUnknown(view) && view.last === undefined;
}

/** The group as observed now, if the pool owns it. */
export function ownedGroup(pool: WindowsPool, view: ObservedNodeGroup | undefined): NodeGroup | undefined {
  return view?.kind === 'seen' && isOwnedBy(pool, view.group) ? view.group : undefined;
}

/** The group as far as it is known, if the pool owns it. */
export function lastOwnedGroup(pool: WindowsPool, view: ObservedNodeGroup | undefined): NodeGroup | undefined {
  const group = view && groupOf({ group: view });
  return group && isOwnedBy(pool, group) ? group : undefined;
}

/** The groups that the pool owns, as far as they are known: the main group and the second one. */
export function ownGroups({ pool, group, second }: Pick<EksState, 'pool' | 'group' | 'second'>): NodeGroup[] {
  return [group, second].flatMap((view) => lastOwnedGroup(pool, view) ?? []);
}

/** The desired number of nodes in all groups that the pool owns; undefined when none is known. */
export function desiredNodes(s: Pick<EksState, 'pool' | 'group' | 'second'>): number | undefined {
  const groups = ownGroups(s);
  return groups.length > 0 ? groups.reduce((sum, { scaling }) => sum + scaling.desiredSize, 0) : undefined;
}

/** Whether the operator is configured for an EKS cluster: without one, it makes no call to AWS. */
export function hasCluster({ settings }: Pick<EksState, 'settings'>): boolean {
  return settings.clusterName !== '';
}

/** Whether the EKS cluster is not the one that the operator runs in, or not the one in which the pool's group was created, or is not configured. */
export function isClusterMismatch(s: EksState): boolean {
  const { pool, cluster, settings } = s;
  if (!hasCluster(s)) return true;
  const pinned = pool.status?.cluster?.arn;
  if (pinned !== undefined) {
    // arn:aws:eks:REGION:ACCOUNT:cluster/NAME, so that a wrong flag is detected even when EKS cannot be called.
    const [, , , region, , path] = pinned.split(':');
    if (region !== settings.region || path !== `cluster/${settings.clusterName}`) return true;
  }
  if (cluster.kind !== 'seen') return false;
  return !cluster.cluster.isOurs || (pinned !== undefined && pinned !== cluster.cluster.arn);
}

/** The error of a step that EKS would answer with again, whatever the operator's permissions are; undefined if there is none. */
export function rejectionOf({ errors }: Pick<EksState, 'errors'>, step: Step['kind']): StepError | undefined {
  return errors.find((entry) => entry.step === step && ['refused', 'limit', 'unknown'].includes(entry.error.kind));
}

/** Whether nodes have been missing for longer than the join grace, as status records. */
export function isOverdue({ pool, now, settings }: EksState): boolean {
  const { nodesMissing = false, joiningSince } = pool.status?.tracking ?? {};
  return nodesMissing || (joiningSince !== undefined && now - Date.parse(joiningSince) >= settings.joinGraceMs);
}

/** Instances older than the join grace that are not nodes of the pool; undefined when EC2 was not called. */
export function lateInstances({ instances, poolNodes, now, settings }: EksState): Instance[] | undefined {
  return instances?.filter(
    ({ id, launchedAt }) => !poolNodes.hasInstance(id) && now - launchedAt >= settings.joinGraceMs,
  );
}

/** Whether nodes have been missing for too long. A scaling group that has just launched its instances is still growing and lacks none. */
export function lacksNodes(s: EksState): boolean {
  const desired = desiredNodes(s) ?? 0;
  const growing = lateInstances(s)?.length === 0 && (s.instances?.length ?? 0) >= desired;
  return s.poolNodes.total + s.poolNodes.unlabelledNodes.length < desired && isOverdue(s) && !growing;
}

/** What follows from the groups for the verification of their nodes. When the gate is removed, the group loses its taint first, then the nodes. */
export function expectationOfGroups(s: Pick<EksState, 'pool' | 'group' | 'second'>): GroupExpectation {
  const { pool, group, second } = s;
  const known = [groupOf(s), ...ownGroups(s)];
  const mayComeLate = known.some((each) => each?.taints.some(isRegistrationTaint));
  const hasSecondTaint = second !== undefined && groupOf({ group: second })?.taints.some(isGateTaint) === true;
  const hasGateTaint =
    (groupOf({ group })?.taints.some(isGateTaint) ??
      GATE_TAINTS.some((taint) => appliedOf(pool)?.has(taintField(taint)))) ||
    hasSecondTaint;
  return { hasGateTaint, ...(mayComeLate && { settlingMs: SETTLING_MS }) };
}
