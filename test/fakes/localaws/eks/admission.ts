import type { Nodegroup } from '@aws-sdk/client-eks';
import { durations } from '../durations.ts';
import { isOfRole } from '../iam/roles.ts';
import type { GroupRecord } from '../records.ts';
import { windowsOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { newEntry } from './accessEntryRecord.ts';

/** How the API server authenticates the nodes of a role: not at all, as nodes, or as nodes whose kube-proxy may read Services too. */
export type Admission = 'none' | 'linux' | 'windows';

/** Reads the role's access entry first, and aws-auth if there is none, if the authentication mode uses them. */
export function admissionOf(cloud: LocalAwsState, roleArn: string | undefined): Admission {
  const { authenticationMode } = cloud.clusterState;
  const entry = cloud.accessEntries.get(roleArn ?? '');
  if (authenticationMode !== 'CONFIG_MAP' && entry !== undefined) {
    if (!isOfRole(cloud, entry)) return 'none';
    return admissionBy(entry.type === 'STANDARD' ? [] : (entry.kubernetesGroups ?? []));
  }
  return authenticationMode === 'API' ? 'none' : admissionBy(cloud.awsAuth.get(roleArn ?? '') ?? []);
}

/** EKS grants access to the nodes of a new group if their role has neither entry nor mapping: as Linux nodes, or depending on the switch. */
export function admitNodes(cloud: LocalAwsState, { nodeRole: roleArn = '', amiType }: Nodegroup): void {
  const type = windowsOf(amiType ?? '') === undefined ? 'EC2_LINUX' : cloud.switches.nodegroupAccessEntry;
  const { authenticationMode } = cloud.clusterState;
  cloud.emitSetting({ kind: 'readAwsAuth' });
  if (type === 'none') return;
  if (authenticationMode === 'CONFIG_MAP') {
    mapRole(cloud, roleArn, type);
    return;
  }
  if (cloud.accessEntries.has(roleArn)) return;
  cloud.accessEntries.set(roleArn, newEntry(cloud, { principalArn: roleArn, type }, cloud.nextUuid()));
}

function mapRole(cloud: LocalAwsState, roleArn: string, type: 'EC2_WINDOWS' | 'EC2_LINUX'): void {
  if (cloud.awsAuth.has(roleArn)) return;
  const groups = [
    'system:bootstrappers',
    'system:nodes',
    ...(type === 'EC2_WINDOWS' ? ['eks:kube-proxy-windows'] : []),
  ];
  cloud.awsAuth.set(roleArn, groups);
  cloud.emitSetting({ kind: 'mapRole', roleArn, groups });
}

/** EKS removes the mapping of a role with the last node group that uses it: user guide, "Delete a managed node group", and containers-roadmap#755. */
export function withdrawRole(cloud: LocalAwsState, roleArn = ''): void {
  const isUsed = [...cloud.groups.values()].some(({ nodegroup }) => nodegroup.nodeRole === roleArn);
  if (isUsed || !cloud.awsAuth.delete(roleArn)) return;
  cloud.emitSetting({ kind: 'unmapRole', roleArn });
}

/** Calls `join` as soon as the API server admits the group's nodes. A kubelet retries while `isAlive` returns true. */
export function whenAdmitted(cloud: LocalAwsState, group: GroupRecord, isAlive: () => boolean, join: () => void): void {
  if (!isAlive()) return;
  if (admissionOf(cloud, group.nodegroup.nodeRole) !== 'none') {
    join();
    return;
  }
  cloud.emitSetting({ kind: 'readAwsAuth' });
  cloud.timeline.after(durations.joinRetry, () => whenAdmitted(cloud, group, isAlive, join));
}

function admissionBy(groups: readonly string[]): Admission {
  if (!groups.includes('system:nodes')) return 'none';
  return groups.includes('eks:kube-proxy-windows') ? 'windows' : 'linux';
}
