/** Status and health of a node group, and what changes them without a request. */
import type { Issue, NodegroupIssueCode, NodegroupStatus } from '@aws-sdk/client-eks';
import { durations } from '../durations.ts';
import { resize } from '../ec2/scaling.ts';
import type { GroupRecord } from '../records.ts';
import { windowsOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { admissionOf } from './admission.ts';

/** Sets the status and with it the time of the last change. */
export function setStatus(cloud: LocalAwsState, group: GroupRecord, status: NodegroupStatus): void {
  group.nodegroup.status = status;
  group.nodegroup.modifiedAt = cloud.timeline.now();
}

/** Calls `run` later, unless the group was cancelled by then. */
export function later(cloud: LocalAwsState, group: GroupRecord, seconds: number, run: () => void): void {
  const { epoch } = group;
  cloud.timeline.after(seconds, () => {
    if (group.epoch === epoch && cloud.groups.get(group.name) === group) run();
  });
}

/** Replaces the health issues with its code; an ACTIVE group becomes DEGRADED. */
function reportIssue(cloud: LocalAwsState, group: GroupRecord, issue: Issue): void {
  const others = (group.nodegroup.health?.issues ?? []).filter(({ code }) => code !== issue.code);
  group.nodegroup.health = { issues: [...others, structuredClone(issue)] };
  if (group.nodegroup.status === 'ACTIVE') setStatus(cloud, group, 'DEGRADED');
}

/** Removes the health issues with that code; with the last issue a DEGRADED group becomes ACTIVE. */
function clearIssue(cloud: LocalAwsState, group: GroupRecord, cleared: NodegroupIssueCode): void {
  const issues = group.nodegroup.health?.issues ?? [];
  const others = issues.filter(({ code }) => code !== cleared);
  if (others.length === issues.length) return;
  group.nodegroup.health = { issues: others };
  if (others.length === 0 && group.nodegroup.status === 'DEGRADED') setStatus(cloud, group, 'ACTIVE');
}

/** Access to the cluster has changed: EKS will check all groups. */
export function accessChanged(cloud: LocalAwsState): void {
  for (const group of cloud.groups.values()) reviewAccess(cloud, group);
}

/** EKS will check whether the nodes of a group have access, and repeat that until they have. */
export function reviewAccess(cloud: LocalAwsState, group: GroupRecord): void {
  if (group.reviewPending === true) return;
  group.reviewPending = true;
  cloud.emitSetting({ kind: 'readAwsAuth' });
  later(cloud, group, durations.healthCheck, () => {
    group.reviewPending = false;
    checkAccess(cloud, group);
    if (group.nodegroup.health?.issues?.some(({ code }) => code === 'AccessDenied')) reviewAccess(cloud, group);
  });
}

// Reports with a health issue that the nodes of a Windows group, or the kube-proxy on them, have no access.
function checkAccess(cloud: LocalAwsState, group: GroupRecord): void {
  const { status = '', amiType = '', nodeRole } = group.nodegroup;
  // A custom image of the local AWS is one of Windows.
  const isWindows = amiType === 'CUSTOM' || windowsOf(amiType) !== undefined;
  if (!['ACTIVE', 'DEGRADED'].includes(status) || !isWindows) return;
  const admission = admissionOf(cloud, nodeRole);
  const seen = admission === 'none' || (admission === 'linux' && cloud.switches.linuxAccessEntry === 'healthIssue');
  if (!seen) {
    clearIssue(cloud, group, 'AccessDenied');
    return;
  }
  // The sense is that of the user guide, EKS' own words for access entries are not known.
  const message =
    'Amazon EKS or one or more of your managed nodes is failing to authenticate or authorize with your Kubernetes cluster API server';
  reportIssue(cloud, group, { code: 'AccessDenied', message, resourceIds: [nodeRole ?? ''] });
}

/** Reports with a health issue that not all instances could be launched. */
export function checkLaunches(cloud: LocalAwsState, group: GroupRecord): void {
  if (group.launchIssue !== undefined) reportIssue(cloud, group, group.launchIssue);
}

/** Auto Scaling groups retry failed launches. */
export function retryLaunches(cloud: LocalAwsState): void {
  for (const group of cloud.groups.values()) {
    const { status = '' } = group.nodegroup;
    const code = group.launchIssue?.code;
    if (code === undefined || !['ACTIVE', 'DEGRADED'].includes(status)) continue;
    resize(cloud, group);
    if (group.launchIssue === undefined) clearIssue(cloud, group, code);
  }
}
