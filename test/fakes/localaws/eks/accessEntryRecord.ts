import type { AccessEntry, CreateAccessEntryRequest } from '@aws-sdk/client-eks';
import type { Timeline } from '../timeline.ts';

const nodeGroups: Readonly<Record<string, readonly string[]>> = {
  EC2_LINUX: ['system:nodes'],
  // The second one lets the kube-proxy on the node read Services and EndpointSlices.
  EC2_WINDOWS: ['eks:kube-proxy-windows', 'system:nodes'],
};

/** An entry with the defaults of EKS. */
export function newEntry(
  cloud: { readonly cluster: { readonly name: string }; readonly timeline: Timeline; arn(rest: string): string },
  { principalArn = '', type = 'STANDARD', kubernetesGroups, username, tags }: Partial<CreateAccessEntryRequest>,
  uuid: string,
): AccessEntry {
  const now = cloud.timeline.now();
  return {
    clusterName: cloud.cluster.name,
    principalArn,
    kubernetesGroups: [...(nodeGroups[type] ?? kubernetesGroups ?? [])],
    accessEntryArn: cloud.arn(`${entryPath(cloud.cluster.name, principalArn)}/${uuid}`),
    createdAt: now,
    modifiedAt: now,
    tags: { ...tags },
    username: username ?? (type in nodeGroups ? 'system:node:{{EC2PrivateDNSName}}' : userNameOf(principalArn)),
    type,
  };
}

/** The part of an entry's ARN that does not depend on when it was created. */
export function entryPath(cluster: string, principalArn: string): string {
  const [, kind = '', path = ''] = /^arn:[\w-]+:iam::\d{12}:(role|user)\/(.+)$/.exec(principalArn) ?? [];
  return `access-entry/${cluster}/${kind}/${principalArn.split(':')[4] ?? ''}/${path.split('/').at(-1)}`;
}

function userNameOf(principalArn: string): string {
  const role = /^(arn:[\w-]+):iam::(\d{12}):role\/(?:.+\/)?(.+)$/.exec(principalArn);
  return role === null ? principalArn : `${role[1]}:sts::${role[2]}:assumed-role/${role[3]}/{{SessionName}}`;
}
